export { EndingNotice, goTo } from './ending-notice.tsx';
export { StatusBadge } from './status-badge.tsx';
export { hasEnded, isEnding, isPaid, titleOf, toneOf } from './subscription-status.ts';
export { UsageMeters } from './usage-meters.tsx';
export { currencyOf, usePlans, usePrices } from './use-plans.ts';
