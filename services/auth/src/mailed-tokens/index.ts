export { issueMailedToken } from './issue-mailed-token.ts';
export type { MailedTokenPurpose, MailedTokenRecord } from './mailed-token.ts';
export {
  deleteMailedToken,
  deleteMailedTokensExpiredBefore,
  findMailedToken,
  findOldestChangeOf,
  isAddressHeld,
  type MailedTokenQuery,
  voidMailedTokens,
} from './queries.ts';
