import { type Html, html } from '@svc/pages';
import type { Usage } from '@svc/partner-sdk';
import type { Texts, View } from '../texts/index.ts';

const MICROS_PER_UNIT = 1_000_000;
type Window = NonNullable<Usage['weekly']>;

/** Renders the shared limits of the subscription as bars. The page's script replaces `#usage` after each request. */
export const usageView = (
  usage: Usage,
  { texts, serviceUrl }: View,
): Html => html`<section id="usage" aria-labelledby="usage-title">
<h2 id="usage-title">${texts.usage.title}${usage.plan !== null && html`: ${usage.plan.name}`}</h2>
${
  usage.weekly === null || usage.monthly === null
    ? html`<p>${texts.usage.none} <a href="${serviceUrl}">${texts.usage.choose}</a>${texts.usage.thenReturn}</p>`
    : html`<div class="bars">${bar('weekly', usage.weekly, texts)}${bar('monthly', usage.monthly, texts)}</div>`
}
<p class="hint">${texts.usage.shared(usage.pending_requests, usage.max_pending_requests)}</p>
</section>`;

const bar = (name: 'weekly' | 'monthly', window: Window, { usage }: Texts): Html => html`<div class="bar">
<label for="${name}-use">${name === 'weekly' ? usage.week : usage.month}: ${usage.used(window.used_percent)}</label>
<progress id="${name}-use" max="${window.limit_micros}" value="${Math.min(window.used_micros, window.limit_micros)}"></progress>
<span class="hint"><span id="${name}-micros" data-micros="${window.used_micros}">${units(window.used_micros)}</span> ${usage.of} ${units(window.limit_micros)};
${usage.resets} <time datetime="${window.resets_at}">${window.resets_at.slice(0, 16).replace('T', ' ')} UTC</time></span>
</div>`;

/** Formats micros as an exact decimal number. */
const units = (micros: number): string => {
  const fraction = String(micros % MICROS_PER_UNIT)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${Math.trunc(micros / MICROS_PER_UNIT)}.${fraction}`;
};
