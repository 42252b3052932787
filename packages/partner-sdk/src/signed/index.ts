export type { PublicKeySet, SignatureFault, Signer } from './verify-signed-claims.ts';
