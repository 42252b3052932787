export { type EncryptionKey, parseEncryptionKeys } from './encryption-keys.ts';
export { createSecretBox, newSigningSecret, type SealedSecret, type SecretBox } from './secret-box.ts';
export { signDelivery } from './sign-delivery.ts';
