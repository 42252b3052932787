import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { addPasskey, createPasskeyOptions } from './add-passkey.ts';
import { addTotp } from './add-totp.ts';
import { confirmTotp } from './confirm-totp.ts';
import { toFactorJson } from './factor.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { countRecoveryCodes, listFactorsOfUser } from './queries.ts';
import { removeFactor } from './remove-factor.ts';
import { renewRecoveryCodes } from './renew-recovery-codes.ts';

/** Binds the routes of an account's second factors. */
export const factorRoutes = (deps: FactorsDeps): Binding[] => [
  bind(routes.listFactors, async ({ caller: { userId } }) => {
    const factors = await listFactorsOfUser(deps.database, userId);
    const codesLeft = await countRecoveryCodes(deps.database, userId);
    return { status: 200, body: { data: factors.map(toFactorJson), recovery_codes_left: codesLeft } };
  }),
  bind(routes.addTotp, async ({ body, caller }) => {
    const { id, secret, url } = await addTotp(deps, caller.userId, body?.name ?? undefined);
    return { status: 201, body: { id, secret, otpauth_url: url } };
  }),
  bind(routes.confirmTotp, async ({ params, body, caller }) => {
    const codes = await confirmTotp(deps, { userId: caller.userId, id: params.factor_id, code: body.code });
    return { status: 200, body: { recovery_codes: codes } };
  }),
  bind(routes.createPasskeyOptions, async ({ caller }) => ({
    status: 200,
    body: await createPasskeyOptions(deps, caller.userId),
  })),
  bind(routes.addPasskey, async ({ body, caller }) => {
    const { factor, recoveryCodes } = await addPasskey(deps, caller.userId, body);
    const codes = recoveryCodes === undefined ? {} : { recovery_codes: recoveryCodes };
    return { status: 201, body: { ...toFactorJson(factor), ...codes } };
  }),
  bind(routes.deleteFactor, async ({ params, caller }) => {
    await removeFactor(deps, { userId: caller.userId, id: params.factor_id });
    return { status: 204 };
  }),
  bind(routes.renewRecoveryCodes, async ({ caller }) => ({
    status: 201,
    body: { recovery_codes: await renewRecoveryCodes(deps, caller.userId) },
  })),
];
