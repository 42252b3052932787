/** A stream or consumer of this release is missing at the broker. Services retry, because they may not create one. */
export class BrokerNotMigrated extends Error {
  override readonly name = 'BrokerNotMigrated';
  readonly kind = 'unavailable';
  readonly code = 'messaging.broker_not_migrated';

  constructor(missing: string) {
    super(`the broker is not migrated: ${missing}`);
  }
}
