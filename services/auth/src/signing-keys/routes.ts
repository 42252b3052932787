import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { KeyRing } from './key-ring.ts';

/** Time for which verifiers may cache the key set: much shorter than a key is published before it signs. */
const KEY_SET_SECONDS = 300;

/** Binds the route of the public keys (RFC 7517 section 5). */
export const signingKeyRoutes = (deps: { keys: KeyRing }): Binding[] => [
  bind(routes.getJwks, async () => ({
    status: 200,
    body: deps.keys.publicKeys(),
    headers: { 'cache-control': `public, max-age=${KEY_SET_SECONDS}` },
  })),
];
