import { TEXT_FONT_FACES } from './fonts.ts';
import { systemThemeTokens } from './tokens.ts';

/** Design tokens, the font, and the elements that all pages share. */
export const THEME = `
${TEXT_FONT_FACES}
${systemThemeTokens()}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:var(--size-reading)/1.5 var(--sans);-webkit-font-smoothing:antialiased;display:flex;flex-direction:column;min-height:100vh}
header{display:flex;align-items:center;gap:.5rem;font-weight:var(--weight-strong);letter-spacing:-.02em}
header svg{width:1.75rem;height:1.75rem}
h1{font-size:1.5rem;font-weight:var(--weight-strong);line-height:1.25;letter-spacing:-.025em;margin:0;overflow-wrap:anywhere;text-wrap:balance}
a{color:var(--accent)}
button,a.button{font:inherit;font-weight:var(--weight-medium);text-align:center;min-height:2.75rem;padding:.5625rem 1rem;border-radius:.5rem;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);text-decoration:none;cursor:pointer}
button:hover,a.button:hover{background:var(--accent-strong);border-color:var(--accent-strong)}
button.second{background:transparent;color:var(--text);border-color:var(--line-strong)}
button.second:hover{background:var(--surface-sunken)}
button.danger{background:transparent;color:var(--bad);border-color:var(--bad)}
button.danger:hover{background:var(--bad-soft)}
button.link{width:auto;min-height:0;border:0;background:none;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert,.done{border-radius:.5rem;padding:.625rem .75rem}
.alert{background:var(--bad-soft);color:var(--bad)}
.done{background:var(--good-soft);color:var(--good)}
@media (forced-colors:active){.alert,.done{border:1px solid}}
`;
