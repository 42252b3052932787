export { startKeyConsumer, startWalletConsumer } from './account-facts.ts';
export { startActivityConsumer } from './activity-facts.ts';
export { type ConnectionFactDeps, startConnectionConsumer } from './connection-facts.ts';
export { startDisconnectionConsumer } from './disconnection-facts.ts';
export { startErasureConsumer } from './erasure-facts.ts';
export { startSubscriptionConsumer } from './user-subscriptions.ts';
