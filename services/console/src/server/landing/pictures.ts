import { type Html, html, tick } from '@svc/pages';
import type { LandingText } from './landing-text.ts';

/** Heights of the chart's bars, in steps of the style sheet. */
const BARS = [3, 5, 2, 6, 4, 1, 0, 5, 8, 6, 3, 7, 2, 4];

/** Draws the consent page in small. Markup follows theme and language, at a fraction of a picture's bytes. */
export const consentPicture = ({
  consent: text,
}: LandingText): Html => html`<div class="shot" role="img" aria-label="${text.label}">
<p class="shot-title"><span class="monogram">N</span>${text.title}</p>
<ul>${text.scopes.map((scope) => html`<li>${tick()}<span>${scope}</span></li>`)}</ul>
<p class="pays"><strong>${text.payer}</strong>${text.left}</p>
<p class="limit"><span>${text.limit}</span><span class="box">${text.amount}</span></p>
<p class="choice"><span class="box">${text.deny}</span><span class="box allow">${text.allow}</span></p>
</div>`;

/** Draws the overview in small. */
export const overviewPicture = ({
  overview: text,
}: LandingText): Html => html`<div class="shot" role="img" aria-label="${text.label}">
<p class="shot-title">${text.title}</p>
<p><strong>${text.plan}</strong> <span class="state">${text.state}</span></p>
<p class="meter"><span>${text.week}</span><span>${text.weekUse}</span></p><div class="track"><div class="fill part-18"></div></div>
<p class="meter"><span>${text.month}</span><span>${text.monthUse}</span></p><div class="track"><div class="fill part-21"></div></div>
<p class="soft">${text.days}</p>
<div class="bars">${BARS.map((height) => html`<div class="bar-${height}"></div>`)}</div>
</div>`;

export const PICTURE_RULES = `
.shots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(19rem,100%),1fr));gap:1.5rem;margin-top:3rem}
figure{margin:0;display:flex;flex-direction:column;gap:.75rem}figcaption{color:var(--text-soft);text-align:center}
.shot{flex:1;display:flex;flex-direction:column;gap:.75rem;padding:1.5rem;background:var(--surface);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow-raised);font-size:.9375rem}
.shot-title{display:flex;gap:.75rem;align-items:center;font-size:1.125rem;font-weight:var(--weight-strong);line-height:1.3}
.monogram{flex:none;display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:.75rem;background:var(--accent);color:var(--on-accent)}
.shot ul{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}.shot li{display:flex;gap:.5rem}.shot li svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--accent)}
.pays{padding:.75rem;background:var(--accent-soft);border-radius:.625rem}.pays strong{display:block}
.limit,.meter{display:flex;justify-content:space-between;align-items:center;gap:.75rem}
.box{padding:.5rem .75rem;border:1px solid var(--line-strong);border-radius:.5rem;text-align:center}
.choice{display:flex;gap:.625rem;margin-top:auto}.choice .box{flex:1;font-weight:var(--weight-medium)}.choice .allow{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.state{padding:.125rem .5rem;border-radius:1rem;background:var(--good-soft);color:var(--good);font-size:.8125rem;font-weight:var(--weight-medium)}
.track{height:.5rem;border-radius:1rem;background:var(--surface-sunken);box-shadow:inset 0 0 0 1px var(--line)}.fill{height:100%;border-radius:1rem;background:var(--accent)}.part-18{width:18%}.part-21{width:21%}
.bars{display:flex;align-items:flex-end;gap:.375rem;height:5.5rem;margin-top:auto;border-bottom:1px solid var(--line)}.bars div{flex:1;border-radius:.25rem .25rem 0 0;background:var(--accent)}
${BARS.map((height) => `.bars .bar-${height}{height:${(height * 100) / 8}%}`)
  .filter((rule, index, all) => all.indexOf(rule) === index)
  .join('')}
@media (forced-colors:active){.shot,.pays,.state{border:1px solid}.fill,.bars div{background:CanvasText}}
`;
