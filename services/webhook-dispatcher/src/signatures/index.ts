export { createSecretBox, newSigningSecret, type SecretBox } from './secret-box.ts';
export { signDelivery } from './sign-delivery.ts';
