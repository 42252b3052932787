import { type ConsoleApi, expectStatus, RegistrationError, readField, readText } from './console-api.ts';

/** Returns the currency of the service's plans. Throws `RegistrationError`. */
export const readCurrency = async (api: ConsoleApi): Promise<string> => {
  const call = { method: 'GET', path: '/v1/subscriptions/plans' } as const;
  const plans = readField(expectStatus(call, await api(call), 200), 'data');
  if (!Array.isArray(plans)) throw new RegistrationError('a response of the service lacks data');
  return readText(readField(plans[0], 'price'), 'currency');
};
