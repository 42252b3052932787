/** The one style of the sandbox's pages. Text on its ground keeps at least 4.5:1, borders of controls 3:1, in light and in dark. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101319);
  --box: light-dark(#ffffff, #181c24);
  --sunken: light-dark(#f0f2f6, #12161d);
  --text: light-dark(#171b24, #e8ebf1);
  --soft: light-dark(#555e70, #a3adbe);
  --line: light-dark(#e2e5ec, #2b313d);
  --edge: light-dark(#868fa0, #6d7789);
  --accent: light-dark(#3a4fd0, #a4b2ff);
  --strong: light-dark(#2e40b3, #bdc8ff);
  --tint: light-dark(#eceffd, #252c4d);
  --on-accent: light-dark(#ffffff, #10142b);
  --bad: light-dark(#b3261e, #ff9d94);
  --bad-box: light-dark(#fcebe9, #3b1d1c);
  --good: light-dark(#176b43, #7fd6a6);
  --good-box: light-dark(#e3f4ea, #16332a);
  --shadow: 0 1px 2px light-dark(rgb(23 27 36 / 5%), transparent), 0 8px 24px light-dark(rgb(23 27 36 / 7%), transparent);
  font: 1rem/1.5 "Inter", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); min-height: 100vh; display: flex; flex-direction: column; }
body > * { width: min(60rem, 100%); margin-inline: auto; padding-inline: 1rem; }
header { padding-block: 1.25rem; display: flex; align-items: center; gap: 0.5rem; font-weight: 650; }
header svg { width: 1.75rem; height: 1.75rem; }
header .tag { margin-left: 0.25rem; }
footer { margin-top: auto; padding-block: 1.25rem; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; justify-content: space-between; color: var(--soft); font-size: 0.875rem; }
main { padding-bottom: 2rem; display: grid; gap: 1.25rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
main.narrow { width: min(37.5rem, 100%); }
main.dialog { width: min(28rem, 100%); margin-block: auto; }
@media (min-width: 48rem) { main.split { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 4rem; padding-top: 2.5rem; align-items: start; } }
section { background: var(--box); border: 1px solid var(--line); border-radius: 1rem; padding: 1.5rem; box-shadow: var(--shadow); display: grid; gap: 1rem; align-content: start; }
@media (max-width: 26rem) { section { padding: 1.125rem; } }
h1 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.015em; margin: 0; overflow-wrap: anywhere; text-wrap: balance; }
.split h1 { font-size: 1.0625rem; font-weight: 600; color: var(--soft); letter-spacing: 0; }
h2 { font-size: 1.0625rem; line-height: 1.35; margin: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 0.625rem; align-items: center; }
p { margin: 0; overflow-wrap: anywhere; }
.amount { font-size: 2.5rem; font-weight: 700; line-height: 1.15; letter-spacing: -0.025em; margin: 0.25rem 0 1.25rem; }
section .amount { font-size: 1.75rem; margin: 0; }
.amount span { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--soft); }
.note { color: var(--soft); font-size: 0.9375rem; }
.tag { border-radius: 1rem; padding: 0.0625rem 0.625rem; font-size: 0.8125rem; font-weight: 600; background: var(--sunken); color: var(--soft); border: 1px solid var(--line); }
.tag.good { background: var(--good-box); color: var(--good); border-color: transparent; }
.tag.bad { background: var(--bad-box); color: var(--bad); border-color: transparent; }
ul { list-style: none; margin: 0 0 1.25rem; padding: 0; display: grid; gap: 0.375rem; font-size: 0.9375rem; }
li { display: grid; grid-template-columns: 1.25rem 1fr; gap: 0.5rem; }
li svg { width: 1.25rem; height: 1.25rem; margin-top: 0.125rem; color: var(--good); }
dl { margin: 0; border-block: 1px solid var(--line); }
dl div { display: flex; justify-content: space-between; gap: 1rem; padding-block: 0.625rem; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
dl .total :is(dt, dd) { font-weight: 650; color: var(--text); }
.alert, .done { border-radius: 0.625rem; padding: 0.75rem 1rem; }
.alert { background: var(--bad-box); color: var(--bad); }
.done { background: var(--good-box); color: var(--good); }
form { display: grid; gap: 0.75rem; }
fieldset { border: 0; padding: 0; margin: 0; min-width: 0; display: grid; gap: 0.5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
label, .held { display: grid; grid-template-columns: auto 2.25rem 1fr; gap: 0 0.75rem; align-items: center; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.625rem; }
.held { grid-template-columns: 2.25rem 1fr; background: var(--sunken); }
label.plain { grid-template-columns: auto 1fr; }
label { cursor: pointer; }
label:hover { border-color: var(--edge); }
label:has(:checked) { border-color: var(--accent); background: var(--tint); }
label:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 2px; }
label :focus-visible { outline: none; }
label input { margin: 0; width: 1.125rem; height: 1.125rem; accent-color: var(--accent); }
label small, .held small { display: block; color: var(--soft); font-size: 0.875rem; }
.card { width: 2.25rem; height: 1.5rem; color: var(--soft); }
button, a.button { font: inherit; font-weight: 600; text-align: center; min-height: 2.75rem; padding: 0.5625rem 1rem; border-radius: 0.5rem; border: 1px solid var(--edge); background: transparent; color: var(--text); text-decoration: none; cursor: pointer; }
button:hover { background: var(--sunken); }
button.main, a.button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.main:hover, a.button:hover { background: var(--strong); border-color: var(--strong); }
button.danger { border-color: var(--bad); color: var(--bad); }
button.danger:hover { background: var(--bad-box); }
button.link { justify-self: center; min-height: 0; padding: 0.25rem; border: 0; font-weight: 500; color: var(--accent); }
button.link:hover { background: none; text-decoration: underline; }
.back button.link { justify-self: start; padding-inline: 0; }
details { border-top: 1px solid var(--line); padding-top: 1rem; }
details[open] summary { margin-bottom: 1rem; }
summary { color: var(--accent); font-weight: 600; cursor: pointer; width: fit-content; border-radius: 0.25rem; }
.bank { display: flex; align-items: center; gap: 0.625rem; color: var(--soft); font-weight: 600; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
.bank svg { width: 1.5rem; height: 1.5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
@media (forced-colors: active) { .alert, .done, .held, .tag { border: 1px solid; } }
`;
