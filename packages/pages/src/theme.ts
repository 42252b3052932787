/**
 * Design tokens and the elements that all pages share. Text keeps a contrast of 4.5:1 on its ground and control borders
 * 3:1, in light and in dark. The media query, unlike `light-dark()`, also reaches browsers from before 2024.
 */
export const THEME = `
:root{color-scheme:light dark;--ground:#f6f7f9;--box:#fff;--sunken:#f0f2f6;--text:#171b24;--soft:#555e70;--line:#e2e5ec;--edge:#868fa0;--accent:#3a4fd0;--strong:#2e40b3;--tint:#eceffd;--on-accent:#fff;--bad:#b3261e;--bad-box:#fcebe9;--good:#176b43;--good-box:#e3f4ea;--shadow:0 1px 2px rgb(23 27 36/6%),0 12px 32px rgb(23 27 36/8%)}
@media (prefers-color-scheme:dark){:root{--ground:#101319;--box:#181c24;--sunken:#12161d;--text:#e8ebf1;--soft:#a3adbe;--line:#2b313d;--edge:#6d7789;--accent:#a4b2ff;--strong:#bdc8ff;--tint:#252c4d;--on-accent:#10142b;--bad:#ff9d94;--bad-box:#3b1d1c;--good:#7fd6a6;--good-box:#16332a;--shadow:none}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:1rem/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;display:flex;flex-direction:column;min-height:100vh}
header{display:flex;align-items:center;gap:.5rem;font-weight:650;letter-spacing:-.01em}
header svg{width:1.75rem;height:1.75rem}
h1{font-size:1.375rem;line-height:1.25;letter-spacing:-.015em;margin:0;overflow-wrap:anywhere;text-wrap:balance}
a{color:var(--accent)}
button,a.button{font:inherit;font-weight:600;text-align:center;min-height:2.75rem;padding:.5625rem 1rem;border-radius:.5rem;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);text-decoration:none;cursor:pointer}
button:hover,a.button:hover{background:var(--strong);border-color:var(--strong)}
button.second{background:transparent;color:var(--text);border-color:var(--edge)}
button.second:hover{background:var(--sunken)}
button.danger{background:transparent;color:var(--bad);border-color:var(--bad)}
button.danger:hover{background:var(--bad-box)}
button.link{width:auto;min-height:0;border:0;background:none;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert,.done{border-radius:.5rem;padding:.625rem .75rem}
.alert{background:var(--bad-box);color:var(--bad)}
.done{background:var(--good-box);color:var(--good)}
@media (forced-colors:active){.alert,.done{border:1px solid}}
`;
