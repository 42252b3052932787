export type { AuthFactsDeps } from './apply-auth-facts.ts';
export { startFactConsumers } from './consumers.ts';
