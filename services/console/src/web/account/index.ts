export { AccountPage, DeleteAccountCard, OwnDataCard } from './account-page.tsx';
export { DeletedPage } from './deleted-page.tsx';
