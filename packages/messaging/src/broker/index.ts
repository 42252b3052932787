export {
  type BrokerAddress,
  type BrokerConnectionOptions,
  connectionOptions,
  connectToBroker,
} from './connect-to-broker.ts';
export { type KeptBroker, keepBrokerMigrated, type MigrateBrokerOptions, migrateBroker } from './migrate-broker.ts';
export {
  type BrokerUser,
  brokerUrl,
  brokerUsers,
  jetStreamOptions,
  type RenderAccountsOptions,
  renderAccounts,
} from './render-accounts.ts';
export { type DurableOptions, ensureDurable, isNotFound } from './topology.ts';
