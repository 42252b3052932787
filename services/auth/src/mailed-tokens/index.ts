export { issueMailedToken } from './issue-mailed-token.ts';
export type { MailedTokenPurpose } from './mailed-token.ts';
export {
  deleteMailedToken,
  deleteMailedTokensExpiredBefore,
  findMailedToken,
  isAddressHeld,
  type MailedTokenQuery,
  voidMailedTokens,
} from './queries.ts';
