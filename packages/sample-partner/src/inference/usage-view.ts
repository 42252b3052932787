import { type Html, html } from '@svc/pages';
import { remainingBudgetMicros, type Usage } from '@svc/partner-sdk';
import { formatTime, type Texts, type View } from '../texts/index.ts';
import { formatMoney } from './format-money.ts';

type Window = NonNullable<Usage['weekly']>;
type Money = (micros: number) => string;

/**
 * Renders what the user's limit leaves to this app, and the shared limits of the subscription as bars. The page's
 * script replaces `#usage` after each request.
 */
export const usageView = (usage: Usage, { texts, serviceUrl }: View, currency: string): Html => {
  const money: Money = (micros) => formatMoney(micros, currency, texts.locale);
  return html`<section id="usage" aria-labelledby="usage-title">
<h2 id="usage-title">${texts.usage.title}${usage.plan !== null && html`: ${usage.plan.name}`}</h2>
${
  usage.weekly === null || usage.monthly === null
    ? html`<p>${texts.usage.none} <a href="${serviceUrl}">${texts.usage.choose}</a>${texts.usage.thenReturn}</p>`
    : html`${budgetView(usage, texts, money)}
<p><a id="manage" href="${new URL('/connections', serviceUrl).href}">${texts.usage.manage}</a></p>
<div class="bars">${bar('weekly', usage.weekly, { texts, money })}${bar('monthly', usage.monthly, { texts, money })}</div>`
}
<p class="hint">${texts.usage.shared(usage.pending_requests, usage.max_pending_requests)}</p>
</section>`;
};

const budgetView = (usage: Usage, { usage: texts }: Texts, money: Money): Html => {
  const { limit_micros: limit, period, paused, used_micros: used } = usage.app;
  const left = remainingBudgetMicros(usage);
  return html`<p id="app-budget" class="budget">${
    limit === null || left === undefined || period === null
      ? texts.noLimit(money(used))
      : texts.left[period](money(left), money(limit))
  }${paused && html` <strong>${texts.paused}</strong>`}</p>`;
};

const bar = (
  name: 'weekly' | 'monthly',
  window: Window,
  { texts: { usage, locale }, money }: { texts: Texts; money: Money },
): Html => html`<div class="bar">
<label for="${name}-use">${name === 'weekly' ? usage.week : usage.month}: ${usage.used(window.used_percent)}</label>
<progress id="${name}-use" max="${window.limit_micros}" value="${Math.min(window.used_micros, window.limit_micros)}"></progress>
<span class="hint"><span id="${name}-micros" data-micros="${window.used_micros}">${money(window.used_micros)}</span> ${usage.of} ${money(window.limit_micros)};
${usage.resets} <time datetime="${window.resets_at}">${formatTime(new Date(window.resets_at), locale)}</time></span>
</div>`;
