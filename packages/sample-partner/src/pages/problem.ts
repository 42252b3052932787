import { ConnectError, ConnectionEndedError, OutcomeUnknownError, SvcError } from '@svc/partner-sdk';

/** What went wrong, in words for the person, and what to do next. */
export interface Problem {
  /** The status to answer with. */
  readonly status: number;
  readonly message: string;
  readonly action?: { readonly label: string; readonly href: string } | undefined;
}

const CONNECT = { label: 'Connect again', href: '/connect' };

/** Describes what the SDK has thrown; anything else is thrown on. `serviceUrl` is where users manage their subscription. */
export const describeProblem = (error: unknown, serviceUrl: string): Problem => {
  if (error instanceof ConnectionEndedError) {
    return { status: 401, message: 'You are not connected any more. Connect again to go on.', action: CONNECT };
  }
  if (error instanceof ConnectError) {
    return { status: error.reason === 'unavailable' ? 503 : 400, message: connectMessage(error), action: CONNECT };
  }
  if (!(error instanceof SvcError)) throw error;
  const status = error.status !== undefined && error.status >= 400 ? error.status : 502;
  return { status, ...callMessage(error, { label: 'Open the service', href: serviceUrl }) };
};

const connectMessage = (error: ConnectError): string => {
  switch (error.reason) {
    case 'denied':
      return 'You chose not to connect, and nothing was shared. You can connect whenever you like.';
    case 'misconfigured':
      return `${error.message} Start this app again: it looks after its registration at its start.`;
    default:
      return error.message;
  }
};

const callMessage = (error: SvcError, service: { label: string; href: string }): Omit<Problem, 'status'> => {
  if (error instanceof OutcomeUnknownError) {
    return {
      message: `It is not known whether this was done and billed. Look at your usage before you try again${requestOf(error)}.`,
      action: service,
    };
  }
  switch (error.code) {
    case 'subscription_inactive':
      return {
        message: 'You have no active subscription. Choose a plan at the service, then come back.',
        action: service,
      };
    case 'weekly_limit_exceeded':
    case 'monthly_limit_exceeded': {
      const until = error.resetsAt === undefined ? 'later' : `from ${error.resetsAt.toUTCString()}`;
      return { message: `Your subscription is used up for now; it goes on ${until}.`, action: service };
    }
    case 'subscription_requests_pending':
      return { message: 'Two of your requests are under way already. Wait for one of them, then try again.' };
    case 'not_implemented':
    case 'subscription_transcription_not_configured':
      return { message: 'The service does not offer transcription here at present. Nothing was billed.' };
    case 'subscription_service_not_included':
      return { message: 'Your plan does not include this. Other plans do.', action: service };
    default:
      return { message: `${error.message}${error.isRetryable ? ' Try again in a moment.' : ''}${requestOf(error)}` };
  }
};

const requestOf = ({ requestId }: SvcError): string => (requestId === undefined ? '' : ` (request ${requestId})`);
