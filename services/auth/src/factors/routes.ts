import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { updateCredentials } from '../accounts/index.ts';
import { HOUR_MS, later } from '../time.ts';
import { addPasskey, createPasskeyOptions } from './add-passkey.ts';
import { changeFactors, type FactorsDeps, makeRecoveryCodes, notifyOwner, settleFactors } from './change-factors.ts';
import {
  confirmTotpById,
  countRecoveryCodes,
  deleteFactorById,
  findUnconfirmedTotp,
  listFactorsOfUser,
  toFactorJson,
} from './queries.ts';
import { addTotp, findTotpStep } from './totp.ts';

/** A factor that is not confirmed within this time must be added again. */
export const UNCONFIRMED_MS = HOUR_MS;

/**
 * Activates a TOTP factor with one of its codes, which is used up. Returns new recovery codes. Throws `not_found` and
 * `wrong_code`.
 */
const confirmTotp = (
  deps: FactorsDeps,
  { userId, id, code }: { userId: string; id: string; code: string },
): Promise<string[]> =>
  changeFactors(deps, userId, async (trx, account) => {
    const now = deps.clock();
    const totp = await findUnconfirmedTotp(trx, { id, userId, since: later(now, -UNCONFIRMED_MS) });
    if (totp === undefined) throw new AppError('not_found');
    const step = findTotpStep(deps.totpSealer.unseal(totp.sealedSecret, id), code, now);
    if (step === undefined) throw new AppError('wrong_code');
    await confirmTotpById(trx, id, { step, now });
    await updateCredentials(trx, userId, { hasSecondFactor: true });
    await notifyOwner(deps, trx, { account, change: 'added', name: totp.name });
    return await makeRecoveryCodes(deps, trx, userId);
  });

/** Deletes a factor, and with the last one the recovery codes. Throws `not_found`. */
const removeFactor = (deps: FactorsDeps, { userId, id }: { userId: string; id: string }): Promise<void> =>
  changeFactors(deps, userId, async (trx, account) => {
    const removed = await deleteFactorById(trx, { id, userId });
    if (removed === undefined) throw new AppError('not_found');
    if (!removed.isInUse) return;
    if (await settleFactors(trx, userId)) await deps.endActingWithoutFactor(trx, userId);
    await notifyOwner(deps, trx, { account, change: 'removed', name: removed.name });
  });

/** Replaces the recovery codes of an account. Throws `second_factor_missing`. */
const renewRecoveryCodes = (deps: FactorsDeps, userId: string): Promise<string[]> =>
  changeFactors(deps, userId, async (trx, account) => {
    if (!account.hasSecondFactor) throw new AppError('second_factor_missing');
    await notifyOwner(deps, trx, { account, change: 'recovery_codes_renewed', name: '' });
    return await makeRecoveryCodes(deps, trx, userId);
  });

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
