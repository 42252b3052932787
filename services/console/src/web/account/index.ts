export { AccountPage } from './account-page.tsx';
export { DeletedPage } from './deleted-page.tsx';
