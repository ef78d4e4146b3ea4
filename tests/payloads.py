"""Names that would run code, or load something, if a page took them for more than text."""

HIT = "window.hit=1"
PAYLOADS = [
    f"<script>{HIT}</script>",
    f"</script><script>{HIT}</script>",
    f"</title><script>{HIT}</script>",
    f"</style><script>{HIT}</script>",
    f"</textarea><script>{HIT}</script>",
    f"<!--<script>{HIT}</script>-->",
    f"--><script>{HIT}</script>",
    f"]]><script>{HIT}</script>",
    f"<ScRiPt>{HIT}</sCrIpT>",
    f"<img src=x onerror={HIT}>",
    f"<img src='x' onerror='{HIT}'>",
    f'"><img src=x onerror={HIT}>',
    f"'><img src=x onerror={HIT}>",
    f'" onmouseover="{HIT}',
    f"' onfocus='{HIT}' autofocus='",
    f"<svg onload={HIT}>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
    f'<svg><a xlink:href="javascript:{HIT}"><text>x</text></a></svg>',
    f"<math><mtext><script>{HIT}</script></mtext></math>",
    f"<iframe srcdoc='<script>parent.{HIT}</script>'></iframe>",
    f"<iframe src=javascript:parent.{HIT}></iframe>",
    f"<object data=javascript:{HIT}></object>",
    "<embed src=//localhost:9/x.svg>",
    f"<a href=javascript:{HIT}>x</a>",
    f"<details open ontoggle={HIT}>",
    "<meta http-equiv=refresh content=0;url=//localhost:9>",
    "<link rel=stylesheet href=//localhost:9/x.css>",
    f"<template><script>{HIT}</script></template>",
    f"\\u003cscript\\u003e{HIT}\\u003c/script\\u003e",
    f"${{{HIT}}}",
    f"&lt;script&gt;{HIT}&lt;/script&gt;",
]

# What can run or load: by its name, by its attributes, by its address.
SCAN = """() => [...document.querySelectorAll('*')].filter(e =>
    ['iframe', 'object', 'embed', 'animate', 'set', 'foreignobject', 'base', 'template', 'math',
     'textarea'].includes(e.localName)
    || e.localName === 'meta' && e.httpEquiv === 'refresh'
    || e.localName === 'link' && !e.href.startsWith('data:,')
    || [...e.attributes].some(a => /^on/i.test(a.name)
        || /^(xlink:)?(href|src|data|action|formaction)$/i.test(a.name)
           && /^\\s*(javascript|vbscript|data:text)/i.test(a.value))
).map(e => e.outerHTML.slice(0, 200))"""
SCRIPTS = "() => document.querySelectorAll('script').length"
