/** Domains 28 to 40; the form is that of `thousand-tools.ts`. */
export const DOMAINS_3 = `
# school | the school | camel
student: somebody who learns here | name, grade?
course: lessons on one subject | title, teacher
assignment: homework for a course | courseId, title, dueOn
exam: a test with marks | courseId, date
! enrollStudent: Puts a learner into a course. | studentId, courseId
! gradeAssignment: Gives a mark for homework. | assignmentId, studentId, mark
! recordAttendance: Notes who was there and who was missing. | courseId, date, present:array
! issueCertificate: Prints that a learner has passed. | studentId, courseId | recordAttendance
! notifyParents: Writes to mother and father of a learner. | studentId, text
# library | the public library | snake
book: a title that can be borrowed | title, isbn?
member: somebody with a library card | name, email
loan: a book that a member has at home | book_id, member_id
reservation: a book that a member waits for | book_id, member_id
! renew_loan: Lets a reader keep a book for longer. | loan_id | pay_fine
! return_book: Takes a borrowed title back. | loan_id
! pay_fine: Settles what a late reader owes. | member_id, amount:number
! search_catalog: Finds titles by author, subject and words. | query
! suggest_purchase: Asks the librarians to buy a title. | title
# restaurant | the restaurant | camel
dish: something on the menu | name, price:number
table: a place for guests to sit | seats:integer
reservation: a table that is kept for guests | tableId, guest, startsAt
supplier: a firm that brings ingredients | name, email
! seatGuests: Leads guests to their place. | reservationId
! placeFoodOrder: Tells the kitchen what guests want to eat. | tableId, dishes:array
! splitBill: Divides what a table has to pay among guests. | tableId, guests:integer | placeFoodOrder
! markSoldOut: Says that a dish is not to be had today. | dishId
! orderIngredients: Buys vegetables, meat and the like from a firm. | supplierId, items:array
# warehouse | the warehouse | snake
pallet: goods on a wooden frame | sku, quantity:integer
bin: a shelf place for goods | code
delivery: goods that come in from a vendor | vendor_id, expected_on
vendor: a firm that we buy goods from | name, email
! pick_items: Takes goods off the shelf for a shipment. | bin_id, quantity:integer
! count_inventory: Checks how many goods are really there. | bin_id
! relocate_pallet: Brings goods to another shelf place. | pallet_id, bin_id
! receive_delivery: Books goods in that have come in. | delivery_id
! reorder_point: Tells at which quantity goods are to be bought again. | sku
# logistics | the parcel service | snake
parcel: a box that is on its way to somebody | recipient, address, weight_kg:number
courier: somebody who brings boxes | name
route: the stops of a van on a day | courier_id, date
depot: a building in which boxes are sorted | city
! track_parcel: Tells where a box is now. | tracking_number
! schedule_pickup: Has a box fetched at an address. | address, date
! print_shipping_label: Makes the sticker with address and barcode. | parcel_id
! optimize_route: Puts the stops of a van into the shortest order. | route_id
! report_damage: Tells that a box arrived broken. | parcel_id, text
# fleet | the company cars | camel
vehicle: a car or a van of the company | plate, model
driver: somebody who may drive company cars | name, licence
tripLog: where a car went and how far | vehicleId, kilometres:number
serviceVisit: a stay at the garage | vehicleId, date
! locateVehicle: Tells where a car is now. | vehicleId
! assignDriver: Gives a car to somebody for a day. | vehicleId, driverId
! recordRefuel: Notes litres and price at the petrol station. | vehicleId, litres:number
! reportAccident: Tells the insurer of a crash. | vehicleId, text
! chargingStatus: Tells how full the battery of an electric car is. | vehicleId
# realestate | the estate agency | snake
listing: a house or a flat on the market | address, price:number
tenant: somebody who rents a flat | name, email
lease: a contract about a rented flat | listing_id, tenant_id, rent:number
viewing: a time at which people see a flat | listing_id, starts_at
! collect_rent: Takes the monthly money from somebody who rents. | lease_id
! request_repair: Has something mended in a flat. | listing_id, text
! estimate_value: Tells what a house would bring on the market. | address
! raise_rent: Sets a higher monthly price from a date on. | lease_id, rent:number | estimate_value
! return_deposit: Gives the security money back when somebody moves out. | lease_id | request_repair
# legal | the law firm | camel
matter: a case of a client | clientName, title
contract: an agreement between parties | title, parties:array
clause: a paragraph that agreements use | title, text
hearing: a date at court | matterId, date, court
! signContract: Puts an electronic signature under an agreement. | contractId, signer | checkConflicts, redlineContract
! redlineContract: Shows what differs between two states of an agreement. | contractId
! trackHours: Notes how long a lawyer worked on a case. | matterId, hours:number
! searchCaseLaw: Finds judgments by words and court. | query, court?
! checkConflicts: Tells whether the firm already works for the other side. | clientName
# marketing | the marketing team | camel
campaign: advertising with a goal and a budget | name, budget:number
newsletter: a mailing to subscribers | subject, body
subscriber: somebody who gets our mailings | email, name?
landingPage: a web page for visitors from advertising | title, text
! sendNewsletter: Mails an issue to all subscribers. | newsletterId
! abTestSubject: Tries two subject lines on a few readers. | newsletterId, subjects:array
! scheduleSocialPost: Puts a text on social networks at a given time. | text, network, at | segmentAudience
! trackConversion: Tells how many visitors became buyers. | campaignId
! segmentAudience: Groups people by age, place and behaviour. | rule
# survey | the survey tool | snake
survey: a list of questions for many people | title
question: one thing to be asked | survey_id, text
response: what one person answered | survey_id, answers:array
panel: people who take part again and again | name
! publish_survey: Lets people begin to answer. | survey_id
! close_survey: Takes no more answers. | survey_id
! chart_results: Draws bars of what people answered. | question_id | close_survey
! invite_panel: Asks all people of a group to take part. | survey_id, panel_id
! export_responses: Writes all answers to a spreadsheet. | survey_id
# analytics | the data warehouse | snake
report: figures in a table that is made anew every day | title, sql
dataset: tables on one subject | name
metric: a figure with its formula | name, formula
query: a stored question to the data in SQL | name, sql
! run_query: Asks the database and gives rows back. | sql
! schedule_report: Has figures made and mailed every week. | report_id, cron
! forecast_series: Goes on with a row of figures into the future. | metric_id, days:integer
! detect_anomalies: Finds days on which a figure is unlike the others. | metric_id
! refresh_dataset: Loads the newest data from the source. | dataset_id
# security | the security office | snake
policy: a rule about who may do what | name, text
vulnerability: a hole in software that must be closed | package, severity
badge: a card that opens doors of the building | holder, zone?
audit: a check of rules and their proof | scope
! revoke_access: Takes all rights of somebody away at once. | user_email
! reset_password: Lets somebody choose a new secret word. | user_email
! quarantine_device: Cuts a computer off from the network. | device_id
! scan_dependencies: Looks for known holes in the libraries of a project. | repository
! report_phishing: Tells of a mail that tries to steal passwords. | sender, subject
# video | the video studio | camel
video: a clip with picture and sound | title
channel: a place where clips of one maker stand | name
subtitle: words under a picture | videoId, language
livestream: a broadcast at this moment | channelId, title
! transcodeVideo: Turns a clip into another format or resolution. | videoId, format
! trimVideo: Cuts the beginning or the end off a clip. | videoId, fromSecond:number, toSecond:number
! generateThumbnail: Makes a small preview picture. | videoId
! transcribeAudio: Writes down what is spoken in a recording. | videoId
! endLivestream: Stops a broadcast. | livestreamId | generateThumbnail
`;
