import { type Html, html } from '@svc/pages';
import { ConnectionEndedError } from '@svc/partner-sdk';
import type { Response } from 'express';
import type { Partner } from '../connect.ts';
import { describeProblem, problemView } from '../pages.ts';
import type { Session } from '../sessions.ts';
import type { View } from '../texts/index.ts';
import { renderHomePage, renderWelcomePage } from './home-page.ts';
import { usageView } from './usage-view.ts';

/** Short, so that the page loads even if the service is slow. */
const READ_TIMEOUT_MS = 5_000;

/** A connected user. */
export interface ConnectedVisitor {
  readonly partner: Partner;
  readonly session: Session;
  readonly svcUserId: string;
}

/** Sends the page of a connected user, or the welcome page if the connection has ended. */
export const sendHome = async (
  response: Response,
  visitor: ConnectedVisitor,
  { view, notice }: { view: View; notice?: Html },
): Promise<void> => {
  const { partner, session, svcUserId } = visitor;
  const client = partner.clientOf(svcUserId);
  const [usage, capabilities] = await Promise.allSettled([
    client.usage({ timeoutMs: READ_TIMEOUT_MS }),
    client.capabilities({ timeoutMs: READ_TIMEOUT_MS }),
  ]);
  if (usage.status === 'rejected' && usage.reason instanceof ConnectionEndedError) {
    session.svcUserId = undefined;
    response.send(renderWelcomePage(view));
    return;
  }
  const shown =
    usage.status === 'fulfilled'
      ? usageView(usage.value, view, partner.currency)
      : html`<section id="usage">${problemView(describeProblem(usage.reason, view))}</section>`;
  const transcribes = capabilities.status === 'fulfilled' ? capabilities.value.services.audio_transcription : undefined;
  response.send(
    renderHomePage({
      texts: view.texts,
      svcUserId,
      messages: session.messages,
      unanswered: session.unanswered,
      usage: shown,
      notice,
      transcribes,
    }),
  );
};
