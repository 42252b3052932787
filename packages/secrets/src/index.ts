export { createDigests, createMacs, type Digests, type Macs } from './digests.ts';
export { createSealer, SealBroken, type Sealer } from './sealer.ts';
export { openSecretKeys, type SecretKey, type SecretKeys, secretKeysSetting } from './secret-keys.ts';
export { secretRoutes } from './secret-routes.ts';
export { formerSigningKeysMigration, openSigningKeys } from './signing-keys.ts';
export {
  type KeyedColumn,
  MissingSecretKey,
  requireSecretKeys,
  type SecretUse,
  secretChecksMigration,
} from './stored-values.ts';
