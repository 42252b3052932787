import { hash } from 'node:crypto';
import { isMetadataUrl } from '@svc/contracts';

/**
 * Returns the key of the range that revokes the grants of an app. Keys of NATS hold few characters, so an address of a
 * metadata document is hashed.
 */
export const appRevocationKey = (clientId: string): string =>
  `app.${isMetadataUrl(clientId) ? `url_${hash('sha256', clientId, 'base64url')}` : clientId}`;
