import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const eventSchema = z.object({
  event_id: z.string(),
  event: z.string(),
  user: z.object({ svc_user_id: z.string() }),
  data: z.looseObject({ status: z.string().optional(), revision: z.number().optional() }),
});

export type PartnerEvent = z.infer<typeof eventSchema>;

/** A partner that accepts every event and keeps a log, which outlives all restores. */
export interface Partner {
  readonly port: number;
  readonly log: readonly PartnerEvent[];
  readonly stop: () => void;
}

export const startPartner = async (identity: { key: string; cert: string }): Promise<Partner> => {
  const log: PartnerEvent[] = [];
  const server = createServer(identity, (req, res) => {
    void text(req).then((body) => {
      log.push(eventSchema.parse(JSON.parse(body)));
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port, log, stop };
};
