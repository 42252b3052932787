import type { Knex } from 'knex';

/** Alerts: the settings of accounts, the thresholds reached, and triggers that publish an alert with the use that causes it. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE alert_settings (
      svc_user_id text PRIMARY KEY,
      thresholds_percent int[] NOT NULL
        CHECK (1 <= ALL (thresholds_percent) AND 100 >= ALL (thresholds_percent)),
      -- Null turns the wallet's alert off.
      wallet_below_micros bigint CHECK (wallet_below_micros > 0)
    );

    -- The highest threshold reached in the current window.
    CREATE TABLE raised_alerts (
      svc_user_id text NOT NULL,
      subject text NOT NULL CHECK (subject IN ('weekly_cap', 'monthly_cap', 'app_budget', 'extra_use', 'api_key', 'wallet')),
      -- The app or the key; otherwise empty.
      subject_id text NOT NULL,
      -- Start of the window in microseconds since 1970; for a wallet, the time of
      -- the alert, whose row goes once the balance is above again.
      window_id bigint NOT NULL,
      percent int NOT NULL,
      PRIMARY KEY (svc_user_id, subject, subject_id)
    );

    CREATE TRIGGER accounts_alerts AFTER UPDATE OF week_used_micros, month_used_micros ON accounts
      FOR EACH ROW EXECUTE FUNCTION account_alerts_follow();
    CREATE TRIGGER app_budgets_alerts AFTER UPDATE OF used_micros, uncertain_micros ON app_budgets
      FOR EACH ROW EXECUTE FUNCTION app_budget_alerts_follow();
    CREATE TRIGGER extra_usage_alerts AFTER UPDATE OF used_micros ON extra_usage
      FOR EACH ROW EXECUTE FUNCTION extra_alerts_follow();
    CREATE TRIGGER key_budgets_alerts AFTER UPDATE OF month_used_micros ON key_budgets
      FOR EACH ROW EXECUTE FUNCTION key_alerts_follow();
    CREATE TRIGGER wallets_alerts AFTER UPDATE OF balance_micros ON wallets
      FOR EACH ROW EXECUTE FUNCTION wallet_alerts_follow();
  `);
};
