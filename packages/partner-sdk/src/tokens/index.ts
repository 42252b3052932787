export { createMemoryTokenStore } from './memory-token-store.ts';
export type { StoredTokens, TokenStore } from './token-store.ts';
export {
  type AccessTokenRequest,
  type AccessTokenSource,
  createUserTokens,
  type UserTokens,
  type UserTokensOptions,
} from './user-tokens.ts';
