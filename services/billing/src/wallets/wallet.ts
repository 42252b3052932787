import type { walletSchema } from '@svc/contracts';
import type { z } from 'zod';

/** A wallet as shown to its owner. */
export type Wallet = z.infer<typeof walletSchema>;
