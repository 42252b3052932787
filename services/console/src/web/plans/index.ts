export { Confirming, useConfirmation } from './confirmation.tsx';
export { PlansPage } from './plans-page.tsx';
export { ReturnPage } from './return-page.tsx';
