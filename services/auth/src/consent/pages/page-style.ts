/** The one style of all pages. Text on its ground keeps at least 4.5:1, borders of controls 3:1, in light and in dark. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#f6f7f9;--card:#fff;--sunken:#f0f2f6;--text:#171b24;--soft:#555e70;--line:#e2e5ec;--edge:#868fa0;--accent:#3a4fd0;--strong:#2e40b3;--tint:#eceffd;--on:#fff;--bad:#b3261e;--badback:#fcebe9;--shadow:0 1px 2px rgb(23 27 36/6%),0 12px 32px rgb(23 27 36/8%)}
@media (prefers-color-scheme:dark){:root{--ground:#101319;--card:#181c24;--sunken:#12161d;--text:#e8ebf1;--soft:#a3adbe;--line:#2b313d;--edge:#6d7789;--accent:#a4b2ff;--strong:#bdc8ff;--tint:#252c4d;--on:#10142b;--bad:#ff9d94;--badback:#3b1d1c;--shadow:none}}
*{box-sizing:border-box}
body{margin:0;padding:1.5rem 1rem;background:var(--ground);color:var(--text);font:1rem/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;display:flex;flex-direction:column;min-height:100vh;align-items:center;justify-content:center}
header{display:flex;align-items:center;gap:.5rem;margin-bottom:1rem;font-weight:650;letter-spacing:-.01em}
header svg{width:1.75rem;height:1.75rem}
main{width:100%;max-width:27.5rem;padding:1.75rem;background:var(--card);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow)}
@media (max-width:26rem){body{padding:1rem .75rem}main{padding:1.25rem}}
h1{font-size:1.375rem;line-height:1.25;letter-spacing:-.015em;margin:0;overflow-wrap:anywhere;text-wrap:balance}
h2{font-size:.9375rem;margin:1.25rem 0 .25rem}
p{margin:.375rem 0}.soft{color:var(--soft);font-size:.9375rem}.wrap{overflow-wrap:anywhere}strong{font-weight:600}.soft strong{color:var(--text)}
.parties{display:flex;align-items:center;gap:.625rem;margin-bottom:1rem;color:var(--edge)}
.parties>*{width:3.5rem;height:3.5rem;border-radius:.875rem;flex:none}.parties img{object-fit:contain;background:var(--sunken);border:1px solid var(--line)}.parties .between{width:1.5rem;height:1.5rem}
.who{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;justify-content:space-between;margin:1rem 0 0;padding:.5rem .75rem;background:var(--sunken);border-radius:.625rem;font-size:.9375rem}
ul{list-style:none;margin:.25rem 0 0;padding:0}
li{display:grid;grid-template-columns:1.25rem 1fr;gap:0 .625rem;padding:.5rem 0}li svg{width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--accent)}li .no{color:var(--soft)}li span{grid-column:2}li.never{padding:.25rem 0}
.pays{margin:.75rem 0 0;padding:.75rem;background:var(--tint);border-radius:.625rem;font-size:.9375rem}.pays strong{display:block}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--card);padding:.5rem .75rem;border:1px solid var(--edge);border-radius:.5rem}
input[aria-invalid=true]{border-color:var(--bad)}
.hint{color:var(--soft);font-size:.875rem;margin:.25rem 0 0}
.choice{display:flex;flex-wrap:wrap;gap:.625rem;margin-top:1.25rem}.choice button,.choice button.second{flex:1 1 9rem;margin:0}form+p{margin-top:1rem}
button{font:inherit;font-weight:600;width:100%;min-height:2.75rem;padding:.5rem 1rem;border-radius:.5rem;border:1px solid var(--accent);background:var(--accent);color:var(--on);cursor:pointer;margin-top:1.25rem}
button:hover{background:var(--strong);border-color:var(--strong)}
button.second{background:transparent;color:var(--text);border-color:var(--edge);margin-top:.625rem}button.second:hover{background:var(--sunken)}
button.link{width:auto;min-height:0;padding:.125rem 0;margin:0;border:0;background:none;color:var(--accent);text-decoration:underline;font-weight:400}
a.second{display:block;text-align:center;padding:.5625rem 1rem;border:1px solid var(--edge);border-radius:.5rem;color:var(--text);text-decoration:none;font-weight:600;margin-top:.625rem}a.second:hover{background:var(--sunken)}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert{background:var(--badback);color:var(--bad);border-radius:.5rem;padding:.625rem .75rem;margin:1rem 0 0}.alert.near{margin:.375rem 0 0;padding:.375rem .625rem;font-size:.9375rem}
.other{margin-top:1.25rem;text-align:center}
main footer{margin-top:1.25rem;padding-top:.875rem;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:.9375rem}main footer [hreflang]{margin-left:auto}
@media (forced-colors:active){.who,.pays,.alert{border:1px solid}}
`;
