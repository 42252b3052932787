export { type BrokerConnectionOptions, connectToBroker } from './connect-to-broker.ts';
export { type BrokerAddress, connectionOptions } from './connection-options.ts';
export { isNotFound } from './is-not-found.ts';
export { type KeptBroker, keepBrokerMigrated } from './keep-broker-migrated.ts';
export { type MigrateBrokerOptions, migrateBroker } from './migrate-broker.ts';
export {
  type BrokerUser,
  brokerUrl,
  brokerUsers,
  jetStreamOptions,
  type RenderAccountsOptions,
  renderAccounts,
} from './render-accounts.ts';
export { type DurableOptions, ensureDurable } from './topology/ensure-durable.ts';
