import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { SvcClient } from '@svc/partner-sdk';

export const transcribe = async (client: SvcClient, path: string): Promise<string> => {
  const file = await openAsBlob(path);
  return (await client.transcribe({ file, filename: basename(path), language: 'it' })).text;
};
