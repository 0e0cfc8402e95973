// Made by `make generate` from the server's schemas; change those, not this file.

export type AccessToken = {
  name: string;
  role: Role;
  createdAt: string;
  createdBy: string;
  expiresAt?: string;
  lastUsedAt?: string;
};

export type ArchiveSource = {
  target: string;
  url: string;
};

export type AuditEntry = {
  at: string;
  who: string;
  via?: Via;
  role?: Role;
  address: string;
  method: string;
  what: string;
  outcome: number;
  note: string;
};

export type AuditListing = {
  type: "collection";
  resourceType: "auditEntry";
  data: (AuditEntry)[];
  links: Record<string, string>;
  actions: Record<string, string>;
  pagination: AuditPagination;
};

export type AuditPagination = {
  limit: number;
  next?: string;
};

export type Backup = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Backup";
  metadata: Metadata;
  spec: BackupSpec;
  status: BackupStatus;
};

export type BackupEvent = {
  type: EventType;
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
};

export type BackupHooks = {
  resources: (ResourceHooks)[];
};

export type BackupPhase = "New" | "FailedValidation" | "Queued" | "ReadyToStart" | "InProgress" | "WaitingForPluginOperations" | "WaitingForPluginOperationsPartiallyFailed" | "Finalizing" | "FinalizingPartiallyFailed" | "Completed" | "PartiallyFailed" | "Failed" | "Deleting" | "Canceled";

export type BackupProgress = {
  totalItems: number;
  itemsBackedUp: number;
};

export type BackupSpec = {
  includedNamespaces: (string)[];
  excludedNamespaces: (string)[];
  includedVolumes: (string)[];
  includedResources: (string)[];
  excludedResources: (string)[];
  labelSelector?: LabelSelector;
  orLabelSelectors: (LabelSelector)[];
  allowEmpty: boolean;
  ttl: string;
  storageLocation: string;
  snapshotMoveData: boolean;
  defaultVolumesToFsBackup: boolean;
  hooks: BackupHooks;
  orderedResources: Record<string, string>;
  itemOperationTimeout: string;
  csiSnapshotTimeout: string;
  priority: number;
  queueTicket?: number;
  onInterruption: OnInterruption;
  cancel: boolean;
};

export type BackupState = "Completed" | "InProgress" | "Error";

export type BackupStatus = {
  conditions: (Condition)[];
  phase: BackupPhase;
  queueTicket?: number;
  queuePosition?: number;
  queuedAt?: string;
  progress?: BackupProgress;
  bytes?: JobBytes;
  blocks: (BlockProgress)[];
  hookStatus?: HookStatus;
  goneVolumes: (string)[];
  unmatched: (string)[];
  interrupted: boolean;
  attempt: number;
  startTimestamp?: string;
  completionTimestamp?: string;
  expiration?: string;
  errors: number;
  warnings: number;
  cancelRequestedAt?: string;
  failureReason?: string;
  events: (BackupEvent)[];
  validationErrors: (string)[];
  verification?: VerificationRecord;
};

export type BackupTarget = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "BackupTarget";
  metadata: Metadata;
  spec: BackupTargetSpec;
  status: BackupTargetStatus;
};

export type BackupTargetSpec = {
  url: string;
  credentialSecret?: string;
  pollInterval?: string;
  syncRequestedAt?: string;
  default: boolean;
};

export type BackupTargetStatus = {
  conditions: (Condition)[];
  available?: boolean;
  message: string;
  store: StoreIdentity;
  lastSyncedAt?: string;
  sync: SyncStatus;
};

export type BlockPhase = "Pending" | "PreHooks" | "Moving" | "PostHooks";

export type BlockProgress = {
  volumes: (string)[];
  expectedSizes: Record<string, number>;
  oneByOne: boolean;
  hooks: (HookCall)[];
  phase: BlockPhase;
};

export type CatalogueDamage = {
  volumes: number;
  backups: number;
  named: (string)[];
};

export type CatalogueFacets = {
  backups: number;
  more: boolean;
  targets: Facet;
  namespaces: Facet;
  states: Facet;
  labels: Facet;
};

export type CatalogueStatus = {
  volumes: number;
  backups: number;
  targets: (TargetCatalogue)[];
};

export type CheckCommand = {
  command: (string)[];
  timeout: string;
};

export type Condition = {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime?: string;
};

export type CronMeaning = {
  schedule: string;
  words: string;
  numbers?: CronNumbers;
  error: string;
};

export type CronMeanings = {
  data: (CronMeaning)[];
};

export type CronNumbers = {
  minutes: (number)[];
  hours: (number)[];
  days: (number)[];
  months: (number)[];
  weekdays: (number)[];
  eitherDay: boolean;
};

export type DataDownload = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "DataDownload";
  metadata: Metadata;
  spec: TransferSpec;
  status: TransferStatus;
};

export type DataUpload = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "DataUpload";
  metadata: Metadata;
  spec: TransferSpec;
  status: TransferStatus;
};

export type DefinitionAction = "Create" | "Update" | "Unchanged" | "Keep";

export type Deletion = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Deletion";
  metadata: Metadata;
  spec: DeletionSpec;
  status: DeletionStatus;
};

export type DeletionPhase = "Waiting" | "Running" | "Retrying" | "Done" | "Refused" | "Canceled";

export type DeletionSpec = {
  target: string;
  url: string;
  volume: string;
  backups: (string)[];
  upload: string;
  cancel: boolean;
  retryNowAfter: number;
};

export type DeletionStatus = {
  conditions: (Condition)[];
  phase: DeletionPhase;
  message: string;
  attempts: number;
  retryAt?: string;
  startedAt?: string;
  finishedAt?: string;
  settled: boolean;
};

export type DeletionWish = {
  target: string;
  volume: string;
  backups?: (string)[];
  wholeVolume: boolean;
};

export type DeliveryPhase = "Pending" | "Delivered" | "GivenUp";

export type DeliverySpec = {
  notification: string;
  event: NotificationEvent;
  subjectKind: string;
  subjectName: string;
  title: string;
  message: string;
  occurredAt: string;
};

export type DeliveryStatus = {
  conditions: (Condition)[];
  phase: DeliveryPhase;
  attempts: number;
  nextAttemptAt?: string;
  deliveredAt?: string;
  endedAt?: string;
  lastError: string;
};

export type EndsFirst = {
  name: string;
  running: boolean;
  holdsUp: string;
};

export type EventType = "Normal" | "Warning";

export type ExecHook = {
  command: (string)[];
  onError: OnError;
  timeout: string;
};

export type ExistingData = "none" | "overwrite";

export type ExpressionOperator = "In" | "NotIn" | "Exists" | "DoesNotExist";

export type Facet = {
  values: (FacetValue)[];
  more: boolean;
  newest?: number;
};

export type FacetValue = {
  value: string;
  backups: number;
};

export type FileListing = {
  type: string;
  resourceType: string;
  backup: string;
  volume: string;
  path: string;
  data: (ListedFile)[];
  pagination: FilePagination;
};

export type FilePagination = {
  limit: number;
  next?: string;
};

export type FoundSource = {
  backupName?: string;
  volumeBackup?: TransferSpec;
};

export type Hook = {
  exec: ExecHook;
};

export type HookCall = {
  hook: number;
  namespace: string;
  volumes: (string)[];
};

export type HookStatus = {
  hooksAttempted: number;
  hooksFailed: number;
  errors: number;
  warnings: number;
  problems: (string)[];
};

export type IssuedToken = {
  token: string;
  record: AccessToken;
};

export type JobBytes = {
  done: number;
  total?: number;
  volumesNotMeasured: number;
  percent?: number;
  bytesPerSecond?: number;
  secondsLeft?: number;
};

export type JobLog = {
  data: (LogEntry)[];
};

export type KeptVolume = {
  volume: string;
  message: string;
};

export type LabelSelector = {
  matchLabels: Record<string, string>;
};

export type ListedFile = {
  name: string;
  path: string;
  key: string;
  type: string;
  mode: string;
  uid: number;
  gid: number;
  size: number;
  modified: string;
  target: string;
};

export type LoadConcurrency = {
  globalConfig?: number;
  perNodeConfig: (PerNodeRule)[];
  prepareQueueLength?: number;
  restoreShare: number;
};

export type LoadStatus = {
  configuration: LoadConcurrency;
  version: string;
  nodes: (LoadedNode)[];
  prepareQueue: PrepareQueue;
  restores: RestoreSlots;
  waiting: (WaitingTransfers)[];
};

export type LoadedNode = {
  name: string;
  ready: boolean;
  slots?: number;
  load: NodeLoad;
};

export type LogEntry = {
  at: string;
  who: string;
  what: string;
  message: string;
  bad: boolean;
};

export type Login = {
  token: string;
  user: string;
  password: string;
};

export type MatchExpression = {
  key: string;
  operator: ExpressionOperator;
  values: (string)[];
};

export type Metadata = {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  finalizers: (string)[];
  ownerReferences: (OwnerReference)[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
};

export type Move = {
  to: number;
};

export type Namespace = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Namespace";
  metadata: Metadata;
  spec: NamespaceSpec;
  status: NamespaceStatus;
};

export type NamespaceSpec = Record<string, unknown>;

export type NamespaceStatus = {
  conditions: (Condition)[];
  protection?: Record<string, number>;
};

export type NewToken = {
  name: string;
  role: Role;
  expiresAt?: string;
};

export type NewUser = {
  name: string;
  role: Role;
  password: string;
};

export type Node = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Node";
  metadata: Metadata;
  spec: NodeSpec;
  status: NodeStatus;
};

export type NodeLoad = {
  running: number;
  preparing: number;
  limit: number;
  limitedBy: string;
};

export type NodeSelector = {
  matchLabels: Record<string, string>;
  matchExpressions: (MatchExpression)[];
};

export type NodeSpec = {
  slots?: number;
};

export type NodeStatus = {
  conditions: (Condition)[];
  ready: boolean;
  load?: NodeLoad;
};

export type Notification = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Notification";
  metadata: Metadata;
  spec: NotificationSpec;
  status: NotificationStatus;
};

export type NotificationDelivery = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "NotificationDelivery";
  metadata: Metadata;
  spec: DeliverySpec;
  status: DeliveryStatus;
};

export type NotificationEvent = "Failure" | "Recovery" | "MissedSchedule" | "VerificationFailure" | "Test";

export type NotificationSpec = {
  type: NotificationType;
  secret: string;
  events: (NotificationEvent)[];
};

export type NotificationStatus = {
  conditions: (Condition)[];
  lastDeliveredAt?: string;
  lastFailedAt?: string;
  lastError: string;
};

export type NotificationType = "webhook" | "apprise";

export type OnError = "Fail" | "Continue";

export type OnInterruption = "Fail" | "Requeue";

export type OwnPassword = {
  user: string;
  password: string;
  newPassword: string;
};

export type OwnerReference = {
  kind: string;
  name: string;
  uid: string;
};

export type PerNodeRule = {
  nodeSelector: NodeSelector;
  number: number;
};

export type Place = {
  state: PlaceState;
  detail: string;
  mounted: boolean;
  usedBy: string;
  inTheWay: string;
  room?: Room;
};

export type PlaceState = "free" | "emptyDirectory" | "directory" | "file" | "device" | "other" | "unreadable";

export type PlanConflict = {
  volume: string;
  message: string;
};

export type PlannedVolume = {
  volume: string;
  targetVolume: string;
  kind: VolumeKind;
  target: string;
  storeBackup: string;
  size?: number;
  destination: string;
  place?: Place;
};

export type PlannedWait = {
  reason: Reason;
  message: string;
};

export type PodVolumeBackup = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "PodVolumeBackup";
  metadata: Metadata;
  spec: TransferSpec;
  status: TransferStatus;
};

export type PodVolumeRestore = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "PodVolumeRestore";
  metadata: Metadata;
  spec: TransferSpec;
  status: TransferStatus;
};

export type PrepareQueue = {
  length?: number;
  backups: number;
  restores: number;
  restoreShare: number;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  message: string;
  hint?: string;
  field?: string;
};

export type ProtectedVolume = {
  state: ProtectionState;
  message: string;
  schedules: (string)[];
  volume: string;
};

export type Protection = {
  counts: Record<string, number>;
  volumes: (ProtectedVolume)[];
};

export type ProtectionState = "Protected" | "NoSchedule" | "FailedLast" | "Late" | "Never";

export type Queue = {
  limit: number;
  paused: boolean;
  running: (string)[];
  waiting: (WaitingBackup)[];
  waitingCount?: number;
  marker?: string;
};

export type QueueExplanation = {
  name: string;
  phase: BackupPhase;
  position?: number;
  since?: string;
  expectedStart?: string;
  obstacles: (QueueObstacle)[];
  moreObstacles: number;
  endsFirst: (EndsFirst)[];
  orOneOf: (string)[];
};

export type QueueObstacle = {
  reason: Reason;
  message: string;
  blockedBy?: string;
  shared: (string)[];
};

export type Reason = "ConcurrencyLimit" | "NamespaceOverlapRunning" | "NamespaceOverlapQueued" | "RestoreLimit" | "RestoresDisabled" | "PrepareQueueFull" | "NodeLoad" | "WaitingForLock" | "TargetUnavailable" | "StoreIdentityMissing" | "StoreIdentityChanged" | "Paused" | "OutsideWindow" | "Dependency" | "PendingEvaluation";

export type Refusal = {
  message: string;
  errorCode: string;
};

export type ResourceHooks = {
  name: string;
  includedNamespaces: (string)[];
  excludedNamespaces: (string)[];
  labelSelector?: LabelSelector;
  pre: (Hook)[];
  post: (Hook)[];
};

export type Restore = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Restore";
  metadata: Metadata;
  spec: RestoreSpec;
  status: RestoreStatus;
};

export type RestorePhase = "New" | "FailedValidation" | "InProgress" | "Completed" | "PartiallyFailed" | "Failed" | "Canceled";

export type RestorePlan = {
  backupName?: string;
  conflicts: (PlanConflict)[];
  waits: (PlannedWait)[];
  queuePosition?: number;
  warnings: (string)[];
  volumes: (PlannedVolume)[];
};

export type RestoreProgress = {
  totalItems: number;
  itemsRestored: number;
};

export type RestoreSlots = {
  inUse: number;
  limit: number;
  queued: number;
};

export type RestoreSpec = {
  backupName?: string;
  scheduleName?: string;
  backupUrl?: string;
  includedNamespaces: (string)[];
  excludedNamespaces: (string)[];
  namespaceMapping: Record<string, string>;
  includedVolumes: (string)[];
  destination?: string;
  existingData: ExistingData;
  includedPaths: (string)[];
  volumeOrder: (string)[];
  force: boolean;
  cancel: boolean;
  itemOperationTimeout: string;
  found?: FoundSource;
};

export type RestoreStatus = {
  conditions: (Condition)[];
  startTimestamp?: string;
  completionTimestamp?: string;
  bytes?: JobBytes;
  errors: number;
  warnings: number;
  cancelRequestedAt?: string;
  failureReason?: string;
  events: (BackupEvent)[];
  validationErrors: (string)[];
  phase: RestorePhase;
  backupName?: string;
  source?: TransferSpec;
  targetVolumes?: (string)[];
  queuePosition?: number;
  progress?: RestoreProgress;
};

export type RestoredDefinition = {
  kind: string;
  name: string;
  action: DefinitionAction;
  reason: string;
  done: boolean;
};

export type RestoredVolume = {
  volume: string;
  backupUrl: string;
  stored?: StoredVolumeBackup;
  restore?: string;
  state: RestoredVolumeState;
  reason: string;
};

export type RestoredVolumeState = "Skipped" | "Waiting" | "InProgress" | "Completed" | "Failed";

export type Retention = {
  keepLast?: number;
  keepHourly?: number;
  keepDaily?: number;
  keepWeekly?: number;
  keepMonthly?: number;
  keepYearly?: number;
};

export type Role = "viewer" | "operator" | "admin";

export type Room = {
  fileSystem: string;
  freeBytes: number;
};

export type Schedule = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Schedule";
  metadata: Metadata;
  spec: ScheduleSpec;
  status: ScheduleStatus;
};

export type SchedulePhase = "New" | "Enabled" | "FailedValidation";

export type ScheduleSpec = {
  schedule: string;
  timezone: string;
  template: BackupSpec;
  systemBackup?: SystemBackupSpec;
  paused: boolean;
  skipImmediately: boolean;
  useOwnerReferencesInBackup: boolean;
  retention?: Retention;
  verification?: ScheduledVerification;
};

export type ScheduleStatus = {
  conditions: (Condition)[];
  phase: SchedulePhase;
  lastBackup?: string;
  lastSkipped?: string;
  skippedRuns: number;
  missedRuns: number;
  lastMissedAt?: string;
  lastVerification?: string;
  timesAsOf: string;
  validationErrors: (string)[];
  unmatched: (string)[];
};

export type ScheduledVerification = {
  schedule: string;
  check?: CheckCommand;
};

export type SelectedRecord = {
  name: string;
  backups: number;
};

export type SelectedRecords = {
  records: (SelectedRecord)[];
  strangers: number;
  newest?: number;
};

export type SelectionDeletion = {
  backups: number;
  volumes: number;
  deletions: (string)[];
  kept: (KeptVolume)[];
};

export type SelectionWish = {
  expected: number;
};

export type Session = {
  user: string;
  role: Role;
  via: Via;
};

export type Setting = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Setting";
  metadata: Metadata;
  spec: SettingSpec;
  status: SettingStatus;
};

export type SettingCategory = "general" | "danger zone";

export type SettingSpec = {
  value: string;
};

export type SettingStatus = {
  conditions: (Condition)[];
  category?: SettingCategory;
};

export type StoreIdentity = {
  identity: string;
  url: string;
  found: string;
  adopt: string;
};

export type StoredVolumeBackup = {
  target: string;
  storeVolume: string;
  storeBackup: string;
};

export type SyncForecast = {
  dueAt?: string;
  message: string;
};

export type SyncStatus = {
  stage: string;
  done: number;
  total: number;
  backups: number;
  errors: number;
  messages: (string)[];
  startedAt?: string;
  expectedEnd?: string;
  finishedAt?: string;
  url: string;
  identity: string;
  failures: number;
  failedAt?: string;
  failedUrl: string;
  vanished: string;
};

export type SystemBackup = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "SystemBackup";
  metadata: Metadata;
  spec: SystemBackupSpec;
  status: SystemBackupStatus;
};

export type SystemBackupPhase = "New" | "CreatingVolumeBackups" | "Generating" | "Uploading" | "Ready" | "Error" | "Deleting" | "Syncing";

export type SystemBackupSpec = {
  volumeBackupPolicy: VolumeBackupPolicy;
  target: string;
  foundVersion?: string;
};

export type SystemBackupStatus = {
  conditions: (Condition)[];
  phase: SystemBackupPhase;
  version: string;
  url: string;
  checksum: string;
  encryption: string;
  size?: number;
  startTimestamp?: string;
  deadline?: string;
  volumesRequestedAt?: string;
  volumes: (SystemBackupVolume)[];
  bytes?: JobBytes;
  createdAt?: string;
  completionTimestamp?: string;
  lastSyncedAt?: string;
  failureReason?: string;
};

export type SystemBackupVolume = {
  volume: string;
  decision: VolumeDecision;
  reason: string;
  backup?: string;
  state: VolumeOutcome;
  message: string;
  stored?: StoredVolumeBackup;
};

export type SystemRestore = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "SystemRestore";
  metadata: Metadata;
  spec: SystemRestoreSpec;
  status: SystemRestoreStatus;
};

export type SystemRestorePhase = "New" | "Downloading" | "Restoring" | "RestoringVolumes" | "Completed" | "PartiallyFailed" | "Error";

export type SystemRestoreSpec = {
  systemBackup: string;
  volumes: VolumeChoice;
  found?: ArchiveSource;
};

export type SystemRestoreStatus = {
  conditions: (Condition)[];
  phase: SystemRestorePhase;
  target: string;
  sourceUrl: string;
  startTimestamp?: string;
  deadline?: string;
  definitions: (RestoredDefinition)[];
  volumesRequestedAt?: string;
  volumes: (RestoredVolume)[];
  bytes?: JobBytes;
  completionTimestamp?: string;
  failureReason?: string;
};

export type TargetCatalogue = {
  name: string;
  available?: boolean;
  since?: string;
  message: string;
  lastSyncedAt?: string;
  sync: SyncStatus;
  heldBack: string;
  volumes: number;
  backups: number;
  damage: CatalogueDamage;
};

export type TransferPhase = "New" | "Accepted" | "Prepared" | "InProgress" | "Canceling" | "Canceled" | "Completed" | "Failed";

export type TransferProgress = {
  stage: string;
  bytesDone: number;
  totalBytes?: number;
  size?: number;
  bytesPerSecond?: number;
  updatedAt?: string;
};

export type TransferResult = {
  url: string;
  size: number;
  newBytes: number;
  warnings: (string)[];
  snapshot?: string;
  leftOut: (string)[];
};

export type TransferSpec = {
  volumeNamespace: string;
  volumeName: string;
  volumeKind: VolumeKind;
  path: string;
  excludes: (string)[];
  target: string;
  storeVolume: string;
  storeBackup: string;
  definition: string;
  fromSnapshot: boolean;
  expectedSize?: number;
  existingData: ExistingData;
  includes: (string)[];
  force: boolean;
  readBack: boolean;
  node?: string;
  timeout: string;
  refused?: Refusal;
  cancel: boolean;
};

export type TransferStatus = {
  conditions: (Condition)[];
  phase: TransferPhase;
  message: string;
  node?: string;
  acceptedTimestamp?: string;
  preparedTimestamp?: string;
  fromSnapshot: boolean;
  cancelingTimestamp?: string;
  startTimestamp?: string;
  completionTimestamp?: string;
  progress?: TransferProgress;
  result?: TransferResult;
  errorCode?: string;
  waitsForLockSince?: string;
  retryAt?: string;
  events: (BackupEvent)[];
};

export type User = {
  name: string;
  role: Role;
  disabled: boolean;
  createdAt: string;
  createdBy: string;
  passwordChangedAt: string;
  lastLoginAt?: string;
};

export type UserChange = {
  role?: Role;
  disabled?: boolean;
  password?: string;
};

export type Verification = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Verification";
  metadata: Metadata;
  spec: VerificationSpec;
  status: VerificationStatus;
};

export type VerificationPhase = "New" | "FailedValidation" | "InProgress" | "Checking" | "CleaningUp" | "Completed" | "Failed" | "Canceled";

export type VerificationProgress = {
  totalItems: number;
  itemsVerified: number;
  bytesVerified: number;
};

export type VerificationRecord = {
  verifiedAt?: string;
  verifiedBy?: string;
  volumes: number;
  bytes: number;
  checkedWith?: string;
  failedAt?: string;
  failedBy?: string;
  failure?: string;
};

export type VerificationSpec = {
  backupName?: string;
  scheduleName?: string;
  check?: CheckCommand;
  cancel: boolean;
  itemOperationTimeout: string;
};

export type VerificationStatus = {
  conditions: (Condition)[];
  startTimestamp?: string;
  completionTimestamp?: string;
  bytes?: JobBytes;
  errors: number;
  warnings: number;
  cancelRequestedAt?: string;
  failureReason?: string;
  events: (BackupEvent)[];
  validationErrors: (string)[];
  phase: VerificationPhase;
  backupName?: string;
  backupUid?: string;
  backupSchedule?: string;
  scratch?: string;
  progress?: VerificationProgress;
  outcome?: VerificationPhase;
  cleanUpSince?: string;
};

export type Via = "admin.token" | "token" | "user";

export type Volume = {
  apiVersion: "tidegate.dev/v1alpha1";
  kind: "Volume";
  metadata: Metadata;
  spec: VolumeSpec;
  status: VolumeStatus;
};

export type VolumeBackupPolicy = "if-not-present" | "if-changed" | "always" | "disabled";

export type VolumeChoice = "none" | "missing" | "all";

export type VolumeDecision = "Created" | "Reused" | "Skipped";

export type VolumeKind = "directory" | "image" | "device" | "claim";

export type VolumeOutcome = "" | "Waiting" | "InProgress" | "Completed" | "Failed";

export type VolumeProtection = {
  state: ProtectionState;
  message: string;
  schedules: (string)[];
};

export type VolumeSpec = {
  directory?: string;
  image?: string;
  device?: string;
  claim?: string;
  node?: string;
  excludes: (string)[];
};

export type VolumeStatus = {
  conditions: (Condition)[];
  lastBackup?: string;
  lastBackupAt?: string;
  lastBackupUrl?: string;
  size?: number;
  lastFailedBackup?: string;
  lastFailedAt?: string;
  lastFailure?: string;
  lastBackupDoubt?: string;
  protection?: VolumeProtection;
};

export type VolumeSync = {
  target: string;
  volume: string;
  pending: boolean;
  running: boolean;
  askedAt?: string;
  failures: number;
  message: string;
  forecast?: SyncForecast;
};

export type WaitingBackup = {
  name: string;
  position: number;
  priority: number;
  reason: Reason;
  message: string;
  blockedBy?: string;
  since?: string;
  expectedStart?: string;
};

export type WaitingTransfers = {
  phase: TransferPhase;
  reason: Reason;
  backups: number;
  restores: number;
};

export type Workload = {
  limit: number;
  headStartSeconds: number;
  namespaces: (string)[];
  unavailableTargets: (string)[];
  backups: (WorkloadBackup)[];
};

export type WorkloadBackup = {
  name: string;
  includedNamespaces: (string)[];
  excludedNamespaces: (string)[];
  volumes?: (string)[];
  priority: number;
  target: string;
  arrives: number;
  queuedFor: number;
  duration: number;
  running: boolean;
};

export const KNOWN_SETTINGS: Record<string, { default: string; description: string }> = {
  "concurrent-backups": {
    "default": "1",
    "description": "How many backups may be ReadyToStart or InProgress at once."
  },
  "concurrent-backup-restore-limit": {
    "default": "5",
    "description": "How many volumes may be restored at once; 0 pauses all restores."
  },
  "concurrent-backup-restore-per-node-limit": {
    "default": "0",
    "description": "How many volumes may be restored at once on each node, within concurrent-backup-restore-limit; 0 means no limit of its own."
  },
  "load-concurrency": {
    "default": "{}",
    "description": "How many transfers each node may move at once, as JSON: {\"globalConfig\": 2, \"perNodeConfig\": [{\"nodeSelector\": {\"matchLabels\": {\"disk\": \"slow\"}}, \"number\": 1}], \"prepareQueueLength\": 10, \"restoreShare\": 1}, alone or as Velero's document {\"loadConcurrency\": {...}}. See docs/load.md; `tidegate load set` writes it."
  },
  "item-block-worker-count": {
    "default": "1",
    "description": "How many item blocks of one backup may be under way at once; a block is a volume, or several that belong together. With more than one transfer per node (load-concurrency), raise this too."
  },
  "data-mover-prepare-timeout": {
    "default": "30m",
    "description": "How long a transfer may be Accepted, or Prepared without a reason to wait, before it fails."
  },
  "data-mover-stall-timeout": {
    "default": "10m",
    "description": "After how long without progress a transfer is told to be stalled; after three times as long it is stopped."
  },
  "data-mover-memory-limit": {
    "default": "512MiB",
    "description": "How much memory one mover may use: little makes it work with fewer threads. Movers that start later keep to it."
  },
  "backup-queue-recheck-seconds": {
    "default": "60",
    "description": "How often the queue is looked at even if nothing happened: a safety net, not how it moves."
  },
  "backup-queue-paused": {
    "default": "false",
    "description": "Whether queued backups stay where they are; what runs goes on."
  },
  "backup-priority-head-start-seconds": {
    "default": "600",
    "description": "How much waiting one step of spec.priority counts for. A backup with priority 1 passes those of priority 0 that came at most so long before it; 0 lets priorities mean nothing."
  },
  "overlap-detection": {
    "default": "namespace",
    "description": "What two backups may not share while they run: a namespace, or, with 'volume', only a volume."
  },
  "limit-upload": {
    "default": "0",
    "description": "Bytes per second that one transfer may send to its store, such as 10MiB; 0 is no limit."
  },
  "limit-download": {
    "default": "0",
    "description": "Bytes per second that one transfer may fetch from its store, such as 10MiB; 0 is no limit."
  },
  "limit-upload-per-node": {
    "default": "0",
    "description": "Bytes per second that all transfers of a node together may send, shared evenly; 0 is no limit."
  },
  "limit-download-per-node": {
    "default": "0",
    "description": "Bytes per second that all transfers of a node together may fetch, shared evenly; 0 is no limit."
  },
  "backupstore-poll-interval": {
    "default": "300",
    "description": "Seconds between two syncs of the catalogue with a target that does not say it itself. 0: no timer; a target is synced when it is set, after own backups, and when asked."
  },
  "catalogue-requests-in-flight": {
    "default": "64",
    "description": "How many requests a sync of the catalogue may have under way at once in one target; fewer while the store complains."
  },
  "concurrent-deletions": {
    "default": "4",
    "description": "How many volumes may have something deleted from their stores at once. Each takes a process that mostly waits for its store; those that run end by themselves when this is lowered."
  },
  "verification-scratch-directory": {
    "default": "",
    "description": "Where verifications restore to, as an absolute path on the server's machine; empty: scratch/ in its data directory. Each makes a directory of its own there and removes it."
  },
  "system-backup-volume-backup-timeout": {
    "default": "24h",
    "description": "How long a system backup waits for the backups of volumes that it has made, before it ends as Error."
  },
  "system-backup-upload-timeout": {
    "default": "1h",
    "description": "How long a system backup tries to write its archive to a store that does not answer, and a system restore to read it, before it ends as Error."
  },
  "audit-retention": {
    "default": "400d",
    "description": "How long the audit remembers who changed what."
  }
};
