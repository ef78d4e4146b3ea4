document.body.append(tooltip, announcer);
objectivePlot();
loadingsSection();
positionsPlot();
maps();
componentMaps();
worstMaps();
timeline();
document.documentElement.classList.add("ready");
