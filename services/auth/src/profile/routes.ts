import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { describeAccount } from '../accounts/index.ts';
import { renewedSessionCookies, toSessionJson } from '../sessions/index.ts';
import { type ChangeProfileDeps, changeProfile, upgradeToBusiness } from './change-profile.ts';

/** Binds the routes of the profile. */
export const profileRoutes = (deps: ChangeProfileDeps): Binding[] => [
  bind(routes.updateAccount, async ({ body, caller, act }) => {
    const changed = await changeProfile(deps, { userId: caller.userId, body, act });
    return { status: 200, body: { account: await describeAccount(deps.database, changed, caller.organization?.id) } };
  }),
  bind(routes.upgradeAccount, async ({ body, caller, res }) => {
    const renewed = await upgradeToBusiness(deps, caller, body.business_name);
    res.appendHeader('set-cookie', renewedSessionCookies(renewed.token, deps.publicBaseUrl));
    return { status: 200, body: toSessionJson(renewed, deps.clock()) };
  }),
];
