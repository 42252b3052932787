import { AppLimitError, ConnectError, ConnectionEndedError, OutcomeUnknownError, SvcError } from '@svc/partner-sdk';
import { formatTime, type Texts, type View } from '../texts/index.ts';

/** Problem and next step in the user's words. */
export interface Problem {
  /** HTTP status of the response. */
  readonly status: number;
  readonly message: string;
  readonly action?: { readonly label: string; readonly href: string } | undefined;
  /** Nothing went wrong, so it is not shown as an error. */
  readonly isChoice?: boolean | undefined;
}

/** Describes an error of the SDK; rethrows any other. */
export const describeProblem = (error: unknown, { texts, serviceUrl }: View): Problem => {
  const connect = { label: texts.problem.connectAgain, href: '/connect' };
  if (error instanceof ConnectionEndedError) return { status: 401, message: texts.problem.ended, action: connect };
  if (error instanceof ConnectError && error.reason === 'denied') {
    return { status: 200, message: texts.problem.denied, action: connect, isChoice: true };
  }
  if (error instanceof ConnectError) {
    return {
      status: error.reason === 'unavailable' ? 503 : 400,
      message: connectMessage(error, texts),
      action: connect,
    };
  }
  if (!(error instanceof SvcError)) throw error;
  const status = error.status !== undefined && error.status >= 400 ? error.status : 502;
  return { status, ...callMessage(error, { texts, serviceUrl }) };
};

const connectMessage = ({ reason }: ConnectError, { problem }: Texts): string => {
  switch (reason) {
    case 'wrong_state':
      return problem.wrongState;
    default:
      return problem[reason];
  }
};

const callMessage = (error: SvcError, { texts, serviceUrl }: View): Omit<Problem, 'status'> => {
  const { problem, locale } = texts;
  const request = error.requestId === undefined ? '' : problem.request(error.requestId);
  const plans = { label: problem.openPlans, href: new URL('/plans', serviceUrl).href };
  if (error instanceof OutcomeUnknownError) {
    return { message: problem.unknown(request), action: { label: problem.openService, href: serviceUrl } };
  }
  switch (error.code) {
    case 'subscription_inactive':
      return { message: problem.inactive, action: plans };
    case 'weekly_limit_exceeded':
    case 'monthly_limit_exceeded': {
      const until = error.resetsAt === undefined ? problem.later : problem.from(formatTime(error.resetsAt, locale));
      return { message: problem.limit(until), action: plans };
    }
    case 'subscription_requests_pending':
      return { message: problem.pending };
    case 'not_implemented':
    case 'subscription_transcription_not_configured':
      return { message: problem.noTranscription };
    case 'subscription_service_not_included':
      return { message: problem.notIncluded, action: plans };
    default:
      if (error instanceof AppLimitError) {
        return {
          message: appLimitMessage(error, texts),
          action: { label: problem.changeLimit, href: error.manageUrl },
        };
      }
      // The service's message, since it has more codes than this app has texts.
      return { message: `${error.message}${error.isRetryable ? problem.tryAgain : ''}${request}` };
  }
};

const appLimitMessage = ({ code, resetsAt }: AppLimitError, { problem, locale }: Texts): string => {
  if (code === 'app_budget_expired') return problem.appExpired;
  if (code === 'connection_paused') return problem.appPaused;
  return problem.appLimit(resetsAt === undefined ? '' : problem.appLimitFrom(formatTime(resetsAt, locale)));
};
