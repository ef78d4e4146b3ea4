"""Formulas: a linear model in one line, and which of its terms or contrasts are tested."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.inference.studies.designs import (
    Array,
    EffectName,
    Indices,
    Model,
    Question,
    Variable,
    counted,
    read_variable,
    table_columns,
    words,
)
from eigengraphs.system.extras import need
from eigengraphs.system.labels import listed


@dataclass(frozen=True, eq=False)
class Formula(Question):
    """A linear model of loadings, and what is tested in it, for :func:`compare`.

    Numbers of two values, texts and truth values are categorical; ``C(site)`` makes other numbers
    categorical, and ``I(visit)`` makes texts of numbers numbers. The levels are in alphabetical
    order, or as a pandas categorical has them, and the first is the reference. A formula may call
    functions (``np.log(age)``, ``center(age)``, ``bs(age, df=4)``): treat one from somebody else as
    a program.

    Parameters
    ----------
    text : str
        In the language of R and statsmodels, without a left side: ``"~ diagnosis * age + sex"``.
    data
        Columns of the table by name, one value per graph: a mapping or a pandas table.
    test
        What is tested. A term, ``"diagnosis:age"``; a coefficient or a contrast of coefficients,
        ``"diagnosis[T.b] - diagnosis[T.c]"``; a mapping of coefficients to weights; weights of all
        coefficients, (p,) or (q, p); or a list of terms and contrasts, tested together. May be left
        out if there is one term.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import Formula, compare
    >>> rng = np.random.default_rng(0)
    >>> table = {"diagnosis": np.repeat(["control", "patient"], 20), "age": rng.normal(50, 9, 40)}
    >>> Lam = rng.normal(size=(40, 2))
    >>> Lam[20:, 1] += 0.2 * (table["age"][20:] - 50)
    >>> found = compare(Lam, Formula("~ diagnosis * age", table, "diagnosis:age"), random_state=0)
    >>> found.significant(), found.contrasts.names
    (('je2',), ('diagnosis[T.patient]:age',))
    """

    text: str
    data: Any = field(default=None, repr=False)
    test: Any = None

    def variables(self, n_graphs: int) -> tuple[Variable, ...]:
        """Return the columns that the formula names.

        Parameters
        ----------
        n_graphs : int
            How many values a column must have.

        Examples
        --------
        >>> from eigengraphs.inference import Formula
        >>> asked = Formula("~ np.log(age)", {"age": [20, 31, 45]})
        >>> [variable.name for variable in asked.variables(3)]
        ['age']
        """
        formula = self._parsed()
        if self.data is None:
            raise InputError("a formula needs data=, a table with its columns")
        table = table_columns(self.data, n_graphs)
        bare = {factor.expr for term in formula for factor in term.factors}
        found = []
        for name in sorted(_names(formula)):
            if name not in table:
                near = get_close_matches(name, list(table), 1)
                raise InputError(
                    f"the formula {self.text!r} names {name!r}, which is no column of the table; "
                    f"columns are: {', '.join(table) or 'none'}"
                    f"{f'; did you mean {near[0]!r}?' if near else ''}"
                )
            variable = read_variable(name, table[name], n_graphs)
            if variable.levels and name not in bare and _are_numbers(variable.levels):
                numbers = [None if np.isnan(code) else float(variable.levels[int(code)])
                           for code in variable.values]  # fmt: skip
                variable = read_variable(name, numbers, n_graphs, "quantity")
            order = getattr(getattr(self.data[name], "cat", None), "categories", None)
            if variable.levels and order is not None:
                levels = tuple(str(level) for level in order)
                variable = read_variable(name, table[name], n_graphs, "groups", levels)
            found.append(variable)
        return tuple(found)

    def model(self, known: Sequence[Variable]) -> Model:
        """Return the model matrix, the contrasts that are tested, and their groups.

        Parameters
        ----------
        known : sequence of Variable
            What :meth:`variables` found, of the graphs that are compared.

        Examples
        --------
        >>> from eigengraphs.inference import Formula
        >>> asked = Formula("~ age", {"age": [20, 31, 45]})
        >>> asked.model(asked.variables(3)).names
        ('Intercept', 'age')
        """
        m = len(known[0].values) if known else 0
        for each in known:
            if len(each.levels) == 1:
                raise InputError(
                    f"{each.name!r} has only one level, {each.levels[0]!r}, in the {m} graphs that "
                    "are left; leave it out of the formula"
                )
        frame = self._frame(known)
        spec, columns = self._matrix(frame)
        names = tuple(spec.column_names)
        slices = {term: list(places) for term, places in spec.term_indices.items()}
        terms = [""] * len(names)
        for term, places in slices.items():
            for j in places:
                terms[j] = "" if _factors(term) == {"1"} else str(term)
        tests = self.test
        if tests is None:
            tests = [name for name in dict.fromkeys(terms) if name]
            if len(tests) != 1:
                raise InputError(
                    f"say by --test (test= in Python) which term of {self.text!r} is tested: "
                    f"{words(tests, 8) or 'it has none'}"
                )
        whole, C, contrasts = self._tested(tests, slices, names)
        if np.linalg.matrix_rank(C) < C.shape[1]:
            raise InputError(f"the tests {listed(contrasts)} are not independent; leave one out")
        used = np.asarray(C.any(axis=1))
        asked = [term for term, places in slices.items() if used[places].any()]
        inside = np.zeros(len(names), dtype=bool)
        for term, places in slices.items():
            if any(_factors(term) <= _factors(other) for other in asked):
                inside[places] = True
        above = [str(term) for term in slices if term not in asked
                 and any(_factors(one) < _factors(term) for one in asked)]  # fmt: skip
        notes = [
            f"{each.name!r} is taken as {len(each.levels)} categories; I({each.name}) takes its "
            "numbers"
            for each in known if len(each.levels) > 2 and _are_numbers(each.levels)
        ]  # fmt: skip
        if above:
            notes.append(
                f"{words([str(term) for term in asked])} is also part of {words(above)}: what is "
                "tested is its effect where the other variables are 0 or at their first level "
                "(center(age) puts 0 at the mean)"
            )
        group, at = self._groups(asked, spec, frame, known)
        kind: Any = "contrast"
        factors = {factor.expr for term in asked for factor in term.factors}
        categorical = {factor for factor in factors if _is_categorical(spec, factor)}
        if len(whole) == 1 and len(asked) == 1 and len(factors) == 1 and not above:
            if categorical and at is not None:
                kind = "groups"
            elif not categorical and C.shape[1] == 1:
                kind = "quantity"
        if kind == "groups" and C.shape[1] == 1 and at is not None:
            C = (at(1) - at(0)).mean(axis=0)[:, None]  # whatever the coding is
        measure: EffectName = "omega squared"
        if C.shape[1] == 1:
            measure = "Hedges g" if factors == categorical else "partial correlation"
        self._check_intercept(columns, C)
        return Model(
            " and ".join(map(str, whole)) or " and ".join(contrasts), columns, names, tuple(terms),
            C, contrasts, inside, group, kind, measure, at, tuple(notes), self.text,
        )  # fmt: skip

    def _parsed(self) -> Any:
        formulaic = need("formulaic", "study", "a formula")
        try:
            parsed = formulaic.Formula(self.text)
            if hasattr(parsed, "lhs"):
                raise InputError(
                    f"the formula {self.text!r} has a left side ({parsed.lhs}); the loadings are "
                    "what is modeled: begin with ~"
                )
            if not isinstance(parsed, formulaic.SimpleFormula):
                raise InputError(f"the formula {self.text!r} has several parts; write one")
            variables = _names(parsed)
        except (formulaic.errors.FormulaicError, SyntaxError, TypeError, AttributeError) as error:
            raise InputError(
                f"the formula {self.text!r} cannot be read: {_in_one_line(error)}"
            ) from None
        if not variables:
            raise InputError(f"the formula {self.text!r} names no column of the table")
        return parsed

    def _frame(self, known: Sequence[Variable]) -> Any:
        """Return a pandas table of the columns; whole numbers that C() takes are integers."""
        pandas = need("pandas", "study", "a formula")
        columns: dict[str, Any] = {}
        for each in known:
            values: Any = each.values
            if each.levels:
                values = pandas.Categorical.from_codes(values.astype(int), list(each.levels))
            elif re.search(rf"\bC\(\s*`?{re.escape(each.name)}\b", self.text):
                whole = (values == np.round(values)).all() and np.abs(values).max() < 2**53
                values = values.astype(np.int64) if whole else values
            columns[each.name] = values
        return pandas.DataFrame(columns)

    def _matrix(self, frame: Any, spec: Any = None) -> tuple[Any, Array]:
        """Return the specification of the model matrix, and the matrix, (m, p)."""
        formulaic = need("formulaic", "study", "a formula")
        source = self._parsed() if spec is None else spec
        try:
            with np.errstate(all="ignore"):
                made = source.get_model_matrix(frame, context=None, na_action="ignore")
            columns = np.asarray(made, dtype=np.float64)
        except (formulaic.errors.FormulaicError, ValueError, TypeError, SyntaxError) as error:
            raise InputError(
                f"the formula {self.text!r} cannot be computed: {_in_one_line(error)}"
            ) from None
        if not np.isfinite(columns).all():
            i, j = np.argwhere(~np.isfinite(columns))[0]
            raise InputError(
                f"{made.model_spec.column_names[j]!r} is not finite for {counted(int(i))} of those "
                "that have all values"
            )
        return made.model_spec, columns

    def _tested(
        self, tests: Any, slices: Mapping[Any, list[int]], names: Sequence[str]
    ) -> tuple[list[Any], Array, tuple[str, ...]]:
        """Return the terms tested as a whole, the contrasts (p, q), and their names."""
        p = len(names)
        if isinstance(tests, str | Mapping) or np.ndim(tests) == 2:
            tests = [tests]
        elif not any(isinstance(test, str | Mapping) for test in tests):
            tests = [np.atleast_2d(np.asarray(tests, dtype=np.float64))]
        whole, rows, labels = [], [], list[str]()
        for test in tests:
            term = next((x for x in slices if _factors(x) == _split(test)), None)
            if term is not None:
                whole.append(term)
                rows += [np.eye(p)[j] for j in slices[term]]
                labels += [names[j] for j in slices[term]]
            elif isinstance(test, np.ndarray):
                if test.shape[1] != p:
                    raise InputError(
                        f"a contrast needs one weight for each of {p} coefficients "
                        f"({words(names, 8)}), got {test.shape[1]}"
                    )
                rows += list(test)
                labels += [_in_words(row, names) for row in test]
            else:
                row = self._contrast(test, slices, names)
                rows.append(row)
                labels.append(test if isinstance(test, str) else _in_words(row, names))
        if not rows:
            raise InputError(f"test= is empty; terms are: {words([str(x) for x in slices], 8)}")
        whole = whole if len(whole) == len(tests) else []
        return whole, np.array(rows).T, tuple(labels)

    def _contrast(self, test: Any, slices: Mapping[Any, Any], names: Sequence[str]) -> Array:
        """Return weights of the coefficients, (p,), of a mapping or a text."""
        constraints = need("formulaic.utils.constraints", "study", "a contrast")
        if isinstance(test, Mapping):
            test = " + ".join(f"({weight}) * {name}" for name, weight in test.items())
        # Names of coefficients hold marks that would be read as operators.
        name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        test = re.sub(rf"(?<![\w`.])({name})(?![\w`\[:])", r"`\1`", test)
        try:
            found = constraints.LinearConstraints.from_spec(test, variable_names=list(names))
            row = np.asarray(found.constraint_matrix, dtype=np.float64)
        except Exception:  # of its parser, of any kind
            terms = [str(term) for term in slices if _factors(term) != {"1"}]
            near = get_close_matches(test.replace("`", ""), [*terms, *names], 1, 0.7)
            raise InputError(
                f"test {test.replace('`', '')!r} is neither a term nor a contrast of "
                f"coefficients of {self.text!r}; terms are: "
                f"{words(terms, 12)}; coefficients: {words(names, 12)}"
                f"{f'; did you mean {near[0]!r}?' if near else ''}"
            ) from None
        if row.shape[0] != 1 or np.asarray(found.constraint_values).any() or not row.any():
            raise InputError(
                f"test {test.replace('`', '')!r} must be one contrast that is tested against "
                "zero; give several as a list"
            )
        return np.asarray(row[0])

    def _groups(
        self, asked: Sequence[Any], spec: Any, frame: Any, known: Sequence[Variable]
    ) -> tuple[Variable, Callable[[int], Array] | None]:
        """Return combinations of the levels of categorical factors that are tested, and the model.

        The second is the model matrix with all rows moved into one combination.
        """
        formulaic = need("formulaic", "study", "a formula")
        factors = [
            factor for factor in dict.fromkeys(x for term in asked for x in term.factors)
            if _is_categorical(spec, factor.expr)
        ]  # fmt: skip
        name = ":".join(factor.expr for factor in factors)
        if not factors:
            return Variable(name or "quantity", "quantity", np.arange(float(len(frame)))), None
        codes, levels, columns = [], [], list[str]()
        for factor in factors:
            alone = formulaic.Formula([formulaic.parser.types.Term([factor])])
            full = alone.get_model_matrix(frame, context=None, ensure_full_rank=False)
            code: Indices = np.asarray(full, dtype=np.float64).argmax(axis=1)
            codes.append(code)
            levels.append([str(x) for x in spec.encoder_state[factor.expr][1]["categories"]])
            own = [x.name for x in known if x.name in spec.factor_variables[factor]]
            if len(own) == 1 and len(np.unique(frame[own[0]])) == len(np.unique(code)):
                columns.append(own[0])
        present, group = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
        group = group.reshape(-1)
        texts = (":".join(levels[f][c] for f, c in enumerate(row)) for row in present.tolist())
        variable = Variable(name, "groups", group.astype(np.float64), tuple(texts))

        def at(level: int) -> Array:
            moved, one = frame.copy(), np.full(len(frame), np.flatnonzero(group == level)[0])
            for column in columns:
                moved[column] = frame[column].take(one).reset_index(drop=True)
            return self._matrix(moved, spec)[1]

        return variable, at if len(columns) == len(factors) else None

    def _check_intercept(self, columns: Array, C: Array) -> None:
        """Refuse models in which the mean of loadings is fixed, or tested."""
        from scipy.linalg import null_space

        size = np.linalg.norm(columns, axis=0)
        size[size == 0] = 1.0
        untested = columns / size @ null_space((C / size[:, None]).T)
        ones = np.full(len(columns), 1 / np.sqrt(len(columns)))
        if np.linalg.norm(ones - untested @ np.linalg.lstsq(untested, ones, rcond=None)[0]) > 1e-8:
            raise InputError(
                f"the formula {self.text!r} has no intercept beside what is tested, which "
                "rearrangements of graphs cannot tell; leave out '0 +' or '- 1', or test contrasts "
                "of groups"
            )


def _names(formula: Any) -> set[str]:
    """Return the names in a formula that are not functions it may call."""
    known = {*need("formulaic.transforms", "study", "a formula").TRANSFORMS, *dir(builtins)}
    found = set()
    for factor in {factor for term in formula for factor in term.factors}:
        if factor.eval_method.value == "lookup":
            found.add(str(factor.expr))
        elif factor.eval_method.value == "python":
            found |= set(re.findall("`([^`]+)`", factor.expr))
            tree = ast.walk(ast.parse(re.sub("`[^`]+`", "0", factor.expr), mode="eval"))
            found |= {node.id for node in tree if isinstance(node, ast.Name)} - known
    return found


def _are_numbers(levels: Sequence[str]) -> bool:
    try:
        return bool([float(level) for level in levels])
    except ValueError:
        return False


def _is_categorical(spec: Any, expression: str) -> bool:
    state = spec.encoder_state.get(expression)
    return state is not None and state[0].value == "categorical"


def _factors(term: Any) -> set[str]:
    """Return the factors of a term, without white space."""
    return {re.sub(r"\s", "", factor.expr) for factor in term.factors}


def _split(test: Any) -> set[str]:
    """Return the factors of a text that is a term: what stands between colons."""
    if not isinstance(test, str):
        return set()
    parts = re.split(r":(?![^(\[]*[)\]])", test)
    return {re.sub(r"\s", "", part).strip("`") for part in parts}


def _in_words(row: Array, names: Sequence[str]) -> str:
    parts = [f"{'- ' if w < 0 else '+ '}{'' if abs(w) == 1 else f'{abs(w):.3g} '}{name}"
             for w, name in zip(row, names, strict=True) if w]  # fmt: skip
    return " ".join(parts).removeprefix("+ ")


def _in_one_line(error: BaseException) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(error))
    return " ".join(text.split()) or type(error).__name__
