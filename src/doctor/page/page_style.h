// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

namespace rdma_exporter::doctor {

/// For light and dark mode, narrow and wide screens, and print: bars keep their colour on paper, collapsed
/// parts stay collapsed.
inline constexpr std::string_view kPageStyle =
    ":root{color-scheme:light "
    "dark;--l:#d0d4da;--c:#f6f7f9;--s:#5b6270;--o:#3a7d44;--w:#b26a00;--k:#c0281c;--u:#6b7280;"
    "--b:#3b73c4}\n"
    "@media(prefers-color-scheme:dark){:root{--l:#3a4048;--c:#1d2126;--s:#a2a9b5;--o:#6cc07a;--w:#f0ad4e;--k:"
    "#ff7b70;"
    "--u:#9aa3b2;--b:#6ea0ea}}\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:1.2em auto;max-width:80em;padding:0 "
    "1em;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.15em;margin:1.2em 0 .4em}h3{font-size:1em;margin:0}\n"
    "p{margin:.25em 0}small,.s{color:var(--s);font-size:.87em;font-weight:400}\n"
    ".v{font-size:1.15em;font-weight:600}.v.ok{color:var(--o)}.v.unknown{color:var(--u)}.v.warning{color:var("
    "--w)}"
    ".v.critical{color:var(--k)}li.warning::marker{color:var(--w)}li.critical::marker{color:var(--k)}\n"
    ".g{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,23em),1fr));gap:.7em}\n"
    "section{background:var(--c);border:1px solid var(--l);border-left:.3em solid "
    "var(--o);border-radius:.3em;"
    "padding:.5em .8em;break-inside:avoid}\n"
    "section.unknown{border-left-color:var(--u)}section.warning{border-left-color:var(--w)}"
    "section.critical{border-left-color:var(--k)}\n"
    "ul{margin:.3em 0;padding-left:1.2em}dt{font-weight:600;margin-top:.5em}dd{margin-left:1em}\n"
    ".f{display:flex;align-items:center;gap:.5em;font-size:.87em}.f span{width:9.5em}.f i+span{width:6em}\n"
    ".f i{flex:1;height:.6em;background:var(--l);border-radius:.2em;overflow:hidden}\n"
    ".f b{display:block;height:100%;background:var(--b);print-color-adjust:exact}.f "
    "b.x{background:var(--k)}\n"
    "details{margin:.4em 0}summary{cursor:pointer}table{border-collapse:collapse;font-size:.87em}\n"
    "th,td{text-align:left;padding:.1em .8em .1em 0;vertical-align:top}.n a{margin-right:1em}"
    ".n.w{color:var(--w)}a{color:var(--b)}\n";

}  // namespace rdma_exporter::doctor
