export { EndingNotice } from './ending-notice.tsx';
export { goTo, ownUrl } from './go-to.ts';
export { PlansPage } from './plans-page.tsx';
export { ReturnPage } from './return-page.tsx';
export { hasEnded, toneOf } from './subscription-status.ts';
export { UsageMeters } from './usage-meters.tsx';
export { currencyOf, usePlans } from './use-plans.ts';
