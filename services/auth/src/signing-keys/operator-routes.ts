import { serviceOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import type { KeyRing } from './key-ring.ts';
import { listSigningKeys } from './queries.ts';
import { type RotateSigningKeysDeps, rotateSigningKeys } from './rotate-signing-keys.ts';

export interface SigningKeyOperatorDeps extends RotateSigningKeysDeps {
  readonly database: Executor;
  readonly keys: KeyRing;
}

/** Binds the operator routes of signing keys. */
export const signingKeyOperatorRoutes = (deps: SigningKeyOperatorDeps): Binding[] => [
  bind(serviceOperations.listSigningKeys, async () => ({ status: 200, body: { data: await listKeys(deps) } })),
  bind(serviceOperations.rotateSigningKeys, async ({ body }) => {
    const rotated = await rotateSigningKeys(deps, { replaceActiveKid: body.active_kid });
    await deps.keys.refresh();
    return { status: 200, body: { rotated, data: await listKeys(deps) } };
  }),
];

const listKeys = async ({ database }: SigningKeyOperatorDeps) => {
  const keys = await listSigningKeys(database);
  return keys.map(({ kid, state, createdAt, activatedAt, retiredAt }) => ({
    kid,
    state,
    created_at: createdAt.toISOString(),
    activated_at: activatedAt?.toISOString() ?? null,
    retired_at: retiredAt?.toISOString() ?? null,
  }));
};
