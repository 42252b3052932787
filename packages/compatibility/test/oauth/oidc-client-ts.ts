import { type INavigator, UserManager, type UserManagerSettings } from 'oidc-client-ts';
import { inject } from 'vitest';
import { versioned } from '../support/results.ts';
import type { Recipe, RegisteredApp, StockClient } from './stock-client.ts';

export const oidcClientTs: Recipe = {
  name: versioned('oidc-client-ts'),
  clientType: 'public',
  features: ['Refresh', 'Revoke', 'Denial'],
  settings: '`scope`, as its default is `openid` alone',
  example: { title: 'oidc-client-ts', source: 'oidc-client-ts' },
  create: ({ clientId, redirectUri }: RegisteredApp): StockClient => {
    const issuer = inject('origin');
    const address = { current: '' };
    // #region example
    const settings: UserManagerSettings = {
      authority: issuer,
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid inference usage:read', // `openid` is ignored: there are no ID tokens.
    };
    // #endregion
    const manager = new UserManager(settings, navigatorThatNotes(address));
    const currentTokens = async () => {
      const user = await manager.getUser();
      return { accessToken: String(user?.access_token), refreshToken: String(user?.refresh_token) };
    };
    return {
      connect: async (visit) => {
        await manager.signinRedirect();
        await manager.signinCallback((await visit(address.current)).href);
        return await currentTokens();
      },
      refresh: async () => {
        await manager.signinSilent();
        return await currentTokens();
      },
      revoke: () => manager.revokeTokens(['refresh_token']),
      close: () => manager.stopSilentRenew(),
    };
  },
};

/** Stands in for `window.location`. */
const navigatorThatNotes = (address: { current: string }): INavigator => ({
  prepare: async () => ({
    navigate: async ({ url }) => {
      address.current = url;
      return { url };
    },
    close: () => {},
  }),
  callback: async () => {},
});
