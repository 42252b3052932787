import { type Html, html } from '@svc/pages';
import { remainingBudgetMicros, type Usage } from '@svc/partner-sdk';
import { formatTime, type Texts, type View } from '../texts/index.ts';

const MICROS_PER_UNIT = 1_000_000;

const MICROS_PER_CENT = 10_000;

type Window = NonNullable<Usage['weekly']>;
type Money = (micros: number) => string;

/**
 * Renders what the user's limit leaves to this app, and the shared limits of the subscription as bars. The page's
 * script replaces `#usage` after each request.
 */
export const usageView = (usage: Usage, { texts, serviceUrl }: View, currency: string): Html => {
  const plans = new URL('/plans', serviceUrl).href;
  const isUsable = USABLE.has(usage.status);
  const money: Money = (micros) => formatMoney(micros, currency, texts.locale);
  return html`<section id="usage" aria-labelledby="usage-title">
<h2 id="usage-title">${texts.usage.title}${isUsable && usage.plan !== null && html`: ${usage.plan.name}`}</h2>
${
  isUsable && usage.weekly !== null && usage.monthly !== null
    ? html`${usage.status === 'past_due' && html`<p class="problem">${texts.usage.overdue} <a href="${plans}">${texts.usage.repair}</a></p>`}
${budgetView(usage, texts, money)}
<p><a id="manage" href="${new URL('/connections', serviceUrl).href}">${texts.usage.manage}</a></p>
<div class="bars">${bar('weekly', usage.weekly, { texts, money })}${bar('monthly', usage.monthly, { texts, money })}</div>
<p class="hint">${texts.usage.shared(usage.pending_requests, usage.max_pending_requests)}</p>`
    : inactiveView(usage.status, texts, plans)
}
</section>`;
};

type Status = Usage['status'];

/** Statuses in which the service answers requests. A plan whose payment failed works for a few days more. */
const USABLE: ReadonlySet<Status> = new Set<Status>(['active', 'trialing', 'past_due']);

const inactiveView = (status: Status, { usage: texts }: Texts, plans: string): Html => {
  const reason = reasonOf(status);
  const link = reason === 'unpaid' || reason === 'paused' ? texts.repair : texts.choose;
  return html`<p class="problem">${texts.inactive[reason]} <a href="${plans}">${link}</a>${texts.thenReturn}</p>`;
};

const reasonOf = (status: Status): keyof Texts['usage']['inactive'] => {
  switch (status) {
    case 'incomplete':
      return 'unpaid';
    case 'paused':
      return 'paused';
    case 'canceled':
    case 'unpaid':
    case 'incomplete_expired':
      return 'ended';
    default:
      return 'none';
  }
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

/** Formats micros in whole cents, rounded down. An amount below a cent keeps its digits. */
const formatMoney = (micros: number, currency: string, locale: string): string => {
  const isSmall = micros > 0 && micros < MICROS_PER_CENT;
  const shown = isSmall ? micros : Math.floor(micros / MICROS_PER_CENT) * MICROS_PER_CENT;
  const fraction = isSmall ? 6 : 2;
  const options = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: fraction } as const;
  return new Intl.NumberFormat(locale, options).format(shown / MICROS_PER_UNIT);
};
