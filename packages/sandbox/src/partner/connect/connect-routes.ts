import { ConnectError } from '@svc/partner-sdk';
import { type Request, Router } from 'express';
import { describeProblem, renderProblemPage } from '../pages/index.ts';
import { clearSessionCookie, readSessionCookie, type SessionStore, setSessionCookie } from '../sessions/index.ts';
import { textsOf, type View } from '../texts/index.ts';
import type { Partner } from './partner.ts';

/** Proposed on the consent page, where the user may change or remove it. Half of the smallest local plan. */
const PROPOSED_LIMIT = { limitMicros: 500_000, period: 'week' } as const;

export interface ConnectRoutesDeps {
  readonly sessions: SessionStore;
  readonly partner: () => Partner | undefined;
  readonly serviceUrl: string;
}

/** Connects and disconnects the user of a browser. */
export const connectRoutes = ({ sessions, partner, serviceUrl }: ConnectRoutesDeps): Router => {
  const viewOf = (request: Request): View => ({ texts: textsOf(request), serviceUrl });
  return Router()
    .get('/connect', async (request, response) => {
      const current = partner();
      // The start page names the problem.
      if (current === undefined) return response.redirect(303, '/');
      try {
        const budget = { ...PROPOSED_LIMIT, currency: current.currency };
        const { url, session: flow } = await current.connector.begin({ locale: textsOf(request).locale, budget });
        let session = sessions.find(readSessionCookie(request));
        if (session === undefined) {
          const created = sessions.create();
          setSessionCookie(response, created.id);
          session = created.session;
        }
        session.connect = flow;
        response.redirect(303, url);
      } catch (error) {
        const problem = describeProblem(error, viewOf(request));
        response.status(problem.status).send(renderProblemPage(problem, textsOf(request)));
      }
    })
    .get('/callback', async (request, response) => {
      const id = readSessionCookie(request);
      const session = sessions.find(id);
      const flow = session?.connect;
      // Another tab, or this page before a reload, has connected meanwhile.
      if (session?.svcUserId !== undefined && flow === undefined) return response.redirect(303, '/');
      // A flow is completed only once.
      if (session !== undefined) session.connect = undefined;
      try {
        const current = partner();
        if (current === undefined) throw new ConnectError('wrong_state');
        const { svcUserId, tokens } = await current.connector.finish(request.originalUrl, flow);
        await current.keep(tokens);
        // Rotates the session id after sign-in, against session fixation.
        sessions.remove(id);
        const created = sessions.create();
        created.session.svcUserId = svcUserId;
        setSessionCookie(response, created.id);
        response.redirect(303, '/');
      } catch (error) {
        const problem = describeProblem(error, viewOf(request));
        response.status(problem.status).send(renderProblemPage(problem, textsOf(request), session?.svcUserId));
      }
    })
    .post('/sign-out', (request, response) => {
      sessions.remove(readSessionCookie(request));
      clearSessionCookie(response);
      response.redirect(303, '/');
    })
    .post('/disconnect', async (request, response) => {
      const svcUserId = sessions.find(readSessionCookie(request))?.svcUserId;
      sessions.remove(readSessionCookie(request));
      clearSessionCookie(response);
      try {
        if (svcUserId !== undefined) await partner()?.release(svcUserId);
        response.redirect(303, '/');
      } catch (error) {
        const { status } = describeProblem(error, viewOf(request));
        const texts = textsOf(request);
        const action = { label: texts.problem.removeThere, href: serviceUrl };
        const problem = { status, message: texts.problem.notReleased, action };
        response.status(status).send(renderProblemPage(problem, texts));
      }
    });
};
