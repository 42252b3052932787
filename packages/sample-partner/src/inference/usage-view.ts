import type { Usage } from '@svc/partner-sdk';
import { type Html, html } from '../pages/index.ts';

const MICROS_PER_UNIT = 1_000_000;
type Window = NonNullable<Usage['weekly']>;

/** The shared limits of the subscription as bars. The script of the page swaps `#usage` after each request. */
export const usageView = (
  usage: Usage,
  serviceUrl: string,
): Html => html`<section id="usage" aria-labelledby="usage-title">
<h2 id="usage-title">Your subscription${usage.plan !== null && html`: ${usage.plan.name}`}</h2>
${
  usage.weekly === null || usage.monthly === null
    ? html`<p>You have no subscription yet. <a href="${serviceUrl}">Choose a plan at the service</a>, then come back.</p>`
    : [bar('This week', 'weekly', usage.weekly), bar('This month', 'monthly', usage.monthly)]
}
<p class="hint">Shared by all apps that you have connected. ${usage.pending_requests} of at most ${usage.max_pending_requests} requests under way.</p>
</section>`;

const bar = (title: string, name: string, window: Window): Html => html`<div class="bar">
<label for="${name}-use">${title}: ${window.used_percent} % used</label>
<progress id="${name}-use" max="${window.limit_micros}" value="${Math.min(window.used_micros, window.limit_micros)}"></progress>
<span class="hint"><span id="${name}-micros" data-micros="${window.used_micros}">${units(window.used_micros)}</span> of ${units(window.limit_micros)};
from 0 again at <time datetime="${window.resets_at}">${window.resets_at.slice(0, 16).replace('T', ' ')} UTC</time></span>
</div>`;

/** Millionths as a decimal number, exact to the last one. */
const units = (micros: number): string => {
  const fraction = String(micros % MICROS_PER_UNIT)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${Math.trunc(micros / MICROS_PER_UNIT)}.${fraction}`;
};
