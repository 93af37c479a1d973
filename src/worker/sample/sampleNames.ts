import { consumerName, groupName, streamKey } from '../../bus';

/** The sample's streams, groups and consumers, by what they show. */
export const sample = {
  /** Three groups in different health, with dead letters of three kinds. */
  orders: streamKey('shop:orders'),
  /** A poison message is delivered again and again, then goes to the dead letters. */
  payments: streamKey('shop:payments'),
  /** Quiet and healthy. */
  users: streamKey('users:events'),
  /** Trimmed while entries were pending: their messages are gone. */
  readings: streamKey('iot:readings'),
  /** Has a group that nobody reads. */
  audit: streamKey('audit:log'),

  billing: { group: groupName('billing'), consumers: [consumerName('billing-1'), consumerName('billing-2')] },
  analytics: { group: groupName('analytics'), consumer: consumerName('analytics-1') },
  shipping: { group: groupName('shipping'), stuck: consumerName('shipping-b41'), alive: consumerName('shipping-a07') },
  ledger: { group: groupName('ledger'), consumer: consumerName('ledger-1') },
  mailer: { group: groupName('mailer'), consumer: consumerName('mailer-1') },
  alerts: { group: groupName('alerts'), consumer: consumerName('alerts-1') },
  siem: { group: groupName('siem') },
} as const;
