export { startKeyConsumer, startWalletConsumer } from './account-facts.ts';
export { startConnectionConsumer, startDisconnectionConsumer } from './connection-facts.ts';
export { startSubscriptionConsumer } from './subscription-facts.ts';
