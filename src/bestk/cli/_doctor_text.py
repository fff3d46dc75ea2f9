"""What the doctor finds, in lines that a person reads."""

from collections.abc import Callable, Iterator
from typing import Any

from bestk.cli._child import failed
from bestk.cli._printable import printable
from bestk.cli._versions import EXTRAS

Report = dict[str, Any]


def lines_of(report: Report) -> Iterator[str]:
    """All lines, section by section, the problems last."""
    return map(printable, _all_lines(report))


def _all_lines(report: Report) -> Iterator[str]:
    yield f"bestk {report['bestk']}, Python {report['python']}, {report['platform']}"
    yield ""
    packages = report["packages"]
    if failed(packages):
        yield _line("packages", f"unknown: {packages['error']}")
    else:
        yield from (_line(name, _package(each)) for name, each in packages.items())
    yield ""
    yield from (_line(name, _told(report, name)) for name in WORDS)
    if "bench" in report:
        from bestk.cli._bench_text import bench_lines

        yield ""
        yield from bench_lines(report["bench"])
    yield ""
    yield from _problems(report)


def _line(name: str, text: str) -> str:
    return f"{name:<13} {text}".rstrip()


def _package(each: dict[str, Any]) -> str:
    if each["version"] is None:
        use = f", for {EXTRAS[each['extra']]}" if each["extra"] else ", and needed"
        return f"not installed{use}: {each['install']}"
    old = f"older than {each['minimum']}: {each['install']}" if each["is_old"] else ""
    return f"{each['version']:<12} {old}"


def _told(report: Report, name: str) -> str:
    """What was found, or why it was not."""
    found = report[name]
    if failed(found):
        return f"unknown: {found['error']}"
    return WORDS[name](found, report)


def _cpu(cpu: Any, report: Report) -> str:
    has = ", ".join(cpu["features"])
    return f"{cpu['name']} ({cpu['target']}: {has}), {cpu['cores_to_use']} of {cpu['cores']} cores"


def _blas(libraries: Any, report: Report) -> str:
    told = [f"{b['internal_api']} {b['version']} on {b['num_threads']} threads" for b in libraries]
    return "; ".join(told) or "none that threadpoolctl knows"


def _cache(cache: Any, report: Report) -> str:
    if cache["folder"] is None:
        return "none: no folder can be written to"
    state = "writable" if cache["writable"] else "NOT writable"
    return f"{cache['words']} of compiled kernels in {cache['folder']}, {state}"


def _gpu(gpus: Any, report: Report) -> str:
    torch = report["packages"].get("torch")
    none = "unknown without torch" if torch and not torch["version"] else "none that torch sees"
    return "; ".join(f"{gpu['name']}, {gpu['words']}" for gpu in gpus) or none


def _data(data: Any, report: Report) -> str:
    if data["folder"] is None:
        return "BESTK_DATA is not set; only the paper's data sets need it"
    return f"{data['folder']}, {len(data['sets'])} data sets"


def _select(select: Any, report: Report) -> str:
    layer = select["layer"] or "not started"
    took = f"{select['seconds']:.2f} s, with compiling or loading"
    return f"works: {took}; {select['threads']} threads, layer {layer}"


WORDS: dict[str, Callable[[Any, Report], str]] = {
    "cpu": _cpu,
    "memory": lambda memory, report: memory["words"],
    "gpu": _gpu,
    "blas": _blas,
    "cache": _cache,
    "data": _data,
    "select": _select,
}


def _problems(report: Report) -> Iterator[str]:
    problems = report["problems"]
    yield "all is well" if not problems else "selecting works" * report["healthy"] or "NOT well"
    for problem in problems:
        yield f"{'PROBLEM' if problem['serious'] else 'problem'}: {problem['what']}"
        yield f"  do: {problem['do']}"
