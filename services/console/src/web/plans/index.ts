export { PlansPage } from './plans-page.tsx';
export { Confirming, ReturnPage, useConfirmation } from './return-page.tsx';
