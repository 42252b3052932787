export { AccountPage } from './account-page.tsx';
export { DeletedPage } from './deleted-page.tsx';
export { DeleteAccountCard, OwnDataCard } from './own-data-cards.tsx';
