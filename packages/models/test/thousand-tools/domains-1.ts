/** Domains 1 to 14; the form is that of `thousand-tools.ts`. */
export const DOMAINS_1 = `
# shop | the web shop | camel
product: an item that is for sale | name, price:number, sku?
order: a purchase of a customer with its items | customerId, items:array, note?
customer: a person who buys in the shop | name, email, phone?
coupon: a discount code for the checkout | code, percent:integer, expiresOn?
! refundOrder: Gives the money of an order back to the buyer. | orderId, amount:number, reason?
! shipOrder: Hands a paid order over to the parcel service and returns the tracking number. | orderId, carrier
! applyCoupon: Takes the discount of a code off an order that is not paid yet. | orderId, couponId
! checkStock: Tells how many pieces of an item are left in the warehouse. | productId
! searchProducts: Finds items for sale by words, price range and category. | query, maxPrice:number?
# blog | the company blog | camel
author: somebody who writes posts | name, email
blog: a post with title and text | authorId, title, content
comment: a reader's remark under a post | blogId, text
tag: a keyword that groups posts | label
! publishBlog: Makes a draft post visible to all readers. | blogId
! likeBlog: Adds one like of a reader to a post. | blogId
! tagBlog: Puts a keyword on a post. | blogId, tagId
! hideComment: Takes a remark out of sight without removing it; for moderators. | commentId
! countReaders: Tells how many people read a post since it went online. | blogId
# crm-eu | the European sales team's records | snake
contact: a person at a company that we sell to | name, email, company?
deal: a possible sale with its worth and stage | contact_id, title, worth:number
account: a company that buys from us | name, country
activity: a call, a visit or a mail with a contact | contact_id, kind, note
! convert_lead: Turns a lead into a contact and a deal. | lead_id
! assign_owner: Makes a salesperson responsible for a deal. | deal_id, owner
! close_deal: Marks a deal as won or lost. | deal_id, outcome
! merge_contacts: Joins two records of the same person into one. | contact_id, duplicate_id
! forecast_revenue: Estimates what the open deals will bring in this quarter. | quarter
# crm-us | the American sales team's records | snake
contact: a person at a company that we sell to | name, email, company?
deal: a possible sale with its worth and stage | contact_id, title, worth:number
account: a company that buys from us | name, country
activity: a call, a visit or a mail with a contact | contact_id, kind, note
! convert_lead: Turns a lead into a contact and a deal. | lead_id
! assign_owner: Makes a salesperson responsible for a deal. | deal_id, owner
! close_deal: Marks a deal as won or lost. | deal_id, outcome
! merge_contacts: Joins two records of the same person into one. | contact_id, duplicate_id
! forecast_revenue: Estimates what the open deals will bring in this quarter. | quarter
# mail | the mailbox | camel
message: an e-mail with subject and body | to, subject, body
draft: an e-mail that is not sent yet | to, subject, body
label: a coloured mark for e-mails | name, color?
filter: a rule that sorts incoming e-mail | from, labelId
! sendEmail: Sends an e-mail to one or more people at once. | to, subject, body
! replyToMessage: Answers an e-mail in the same thread. | messageId, body
! forwardMessage: Passes an e-mail on to somebody else. | messageId, to
! archiveMessage: Moves an e-mail out of the inbox without deleting it. | messageId
! searchMailbox: Finds e-mails by sender, words and date. | query, since?
# calendar | the calendar | camel
event: a meeting or an appointment with a start and an end | title, startsAt, endsAt?, attendees:array?
reminder: a note that pops up at a given time | text, dueAt
room: a meeting room that can be booked | name, seats:integer
holiday: a day on which nobody works | date, name
! findFreeSlot: Finds a time at which all the given people are free. | attendees:array, durationMinutes:integer
! inviteAttendee: Adds a person to an event and sends an invitation. | eventId, email
! rescheduleEvent: Moves an event to another time and tells everybody. | eventId, startsAt
! bookRoom: Reserves a meeting room for an event. | roomId, eventId
! exportCalendar: Writes all events of a month to an iCal file. | month
# tasks | the to-do lists | camel
task: a thing to do, with a due date | title, projectId?, dueOn?
project: a group of tasks with an owner | name, owner?
board: columns of cards for a team | name
checklist: small steps inside a task | taskId, items:array
! completeTask: Ticks a task off as done. | taskId
! assignTask: Gives a task to a person. | taskId, assignee
! moveCard: Puts a card into another column of a board. | boardId, cardId, column
! setPriority: Says how urgent a task is. | taskId, priority
! burndown: Shows how much work of a sprint is left day by day. | boardId, sprint
# issues | the bug tracker | snake
issue: a bug or a wish of a developer | title, body?, repository
milestone: a date by which issues are to be fixed | title, due_on?
label: a word that groups issues | name, color?
release: a version that is given out, with its notes | tag, notes?
! close_issue: Ends an issue as fixed or not to be fixed. | issue_id, reason?
! comment_on_issue: Writes a remark under an issue. | issue_id, body
! link_issues: Says that one issue blocks another. | issue_id, blocked_id
! triage_issue: Sets severity and component of a new bug report. | issue_id, severity
! search_issues: Finds bugs by words, state and author. | query, state?
# git | the source code host | snake
repository: a place for source code with its history | name, private:boolean?
branch: a line of development | repository_id, name
pull_request: a change that waits for review | repository_id, title, branch
webhook: an address that hears of pushes | repository_id, url
! merge_pull_request: Brings a reviewed change into the main branch. | pull_request_id, method?
! request_review: Asks a developer to look at a change. | pull_request_id, reviewer
! fork_repository: Makes a copy of somebody's code under one's own name. | repository_id
! compare_commits: Shows which lines differ between two commits. | base, head
! blame_file: Tells who last changed each line of a file. | repository_id, path
# deploy | the delivery pipeline | camel
pipeline: the steps from code to production | name, repository
environment: a place where software runs, such as staging | name, region?
secret: a password that builds can read | name, value
artifact: a file that a build made | buildId, path
! deployService: Rolls a version of a service out to an environment. | service, version, environmentId
! rollbackDeployment: Goes back to the version that ran before. | deploymentId
! triggerBuild: Starts a build of a branch. | pipelineId, branch
! scaleService: Sets how many instances of a service run. | service, replicas:integer
! tailLogs: Shows the newest lines that a service wrote. | service, lines:integer?
# monitoring | the monitoring system | snake
alert: a rule that wakes somebody up when a metric is wrong | metric, threshold:number
dashboard: charts of metrics on one page | title
incident: an outage, from its start to its end | title, severity
monitor: a check that asks an address whether it still answers | url, interval_seconds:integer
! acknowledge_alert: Says that somebody looks after an alarm. | alert_id
! silence_alert: Keeps an alarm quiet for some hours. | alert_id, hours:integer
! query_metric: Reads the values of a metric over time. | metric, from, to?
! page_on_call: Rings the engineer who is on duty. | message
! write_postmortem: Stores what was learnt from an outage. | incident_id, text
# cloud | the cloud provider | snake
instance: a virtual machine | image, size, region?
bucket: a place for objects and files | name, region?
database: a managed SQL server | engine, size
network: addresses and routes for machines | cidr
! restart_instance: Turns a virtual machine off and on again. | instance_id
! resize_disk: Gives a volume more or fewer gigabytes. | volume_id, size_gb:integer
! take_snapshot: Freezes the state of a disk to go back to it later. | volume_id
! rotate_keys: Replaces the access keys of a service account. | account_id
! estimate_cost: Tells what the machines cost this month. | month?
# files | the file share | camel
file: a document in a folder | path, content
folder: a directory that holds documents | path
share: a link with which outsiders see a document | fileId, email?
version: an older state of a document | fileId
! moveFile: Puts a document into another folder or renames it. | from, to
! copyFile: Makes a second document with the same content. | from, to
! compressFolder: Packs a directory into a zip archive. | folderId
! scanForViruses: Looks for malware in an upload. | fileId
! convertToPdf: Turns an office document into a PDF. | fileId
# notes | the notebook | camel
note: a short text with a title | title, text, notebookId?
notebook: a collection of notes | name
bookmark: a web address worth keeping | url, title?
template: a text with gaps to fill in | name, text
! pinNote: Keeps a note at the top of its list. | noteId
! mergeNotes: Joins several notes into a single one. | noteIds:array
! summarizeNote: Says in few sentences what a note holds. | noteId
! translateText: Puts a text into another language. | text, language
! searchNotes: Finds notes by their words. | query
`;
