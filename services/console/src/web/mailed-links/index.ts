export { MailedLinkPages } from './mailed-link-pages.tsx';
