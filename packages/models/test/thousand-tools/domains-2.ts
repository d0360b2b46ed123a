/** Domains 15 to 27; the form is that of `thousand-tools.ts`. */
export const DOMAINS_2 = `
# billing | the invoicing system | snake
invoice: a bill for a client with its lines | client_id, amount:number, due_on?
client: a company that gets our bills | name, vat_number?, email
payment: money that came in for an invoice | invoice_id, amount:number
subscription: a plan that is billed every month | client_id, plan
! send_invoice: Mails a bill to the client as a PDF. | invoice_id, email?
! void_invoice: Declares a bill invalid without deleting it. | invoice_id, reason?
! cancel_subscription: Ends a monthly plan at the end of its period. | subscription_id
! charge_card: Takes money from a stored credit card. | client_id, amount:number
! aging_report: Lists who has not paid for how many days. | as_of?
# accounting | the general ledger | snake
entry: a booking with debit and credit | account_number, amount:number, text
expense: money that an employee spent for the company | employee, amount:number, category
budget: what a department may spend in a year | department, amount:number
asset: something that is written off over years | name, cost:number
! reconcile_account: Compares the ledger with the statement of the bank. | account_number, month
! approve_expense: Agrees that a receipt is paid back. | expense_id
! close_period: Locks a month, so that nothing can be booked in it. | month
! trial_balance: Adds up all accounts to see whether they match. | month?
! export_tax_report: Writes the VAT figures of a quarter for the tax office. | quarter
# bank | the bank | camel
account: money at the bank under a number | owner, currency?
transfer: money on its way from one account to another | fromAccountId, toAccountId, amount:number
card: a debit or credit card | accountId, kind
standingOrder: a transfer that repeats every month | fromAccountId, toAccountId, amount:number
! blockCard: Makes a lost or stolen card unusable at once. | cardId
! getBalance: Tells how much money is there. | accountId
! exchangeCurrency: Turns an amount of one currency into another. | amount:number, from, to
! disputeCharge: Objects to a payment that the owner did not make. | chargeId, reason | downloadStatement
! downloadStatement: Gives the movements of a month as a PDF. | accountId, month
# hr | the personnel office | snake
employee: somebody who works here | name, email, department?
leave: days on which somebody is away on vacation or ill | employee_id, from, to
position: a job that is open or filled | title, department
review: what a manager says about a year's work | employee_id, text
! approve_leave: Agrees to days off. | leave_id
! onboard_employee: Starts everything that a new colleague needs on the first day. | employee_id
! change_salary: Sets what somebody earns from a date on. | employee_id, salary:number
! terminate_employment: Ends a contract of work. | employee_id, last_day
! org_chart: Shows who reports to whom. | department?
# recruiting | the hiring team | snake
candidate: somebody who applies for a job | name, email
vacancy: a job that is advertised | title, location?
interview: a talk with an applicant | candidate_id, starts_at
offer: a contract that is proposed to an applicant | candidate_id, salary:number
! reject_candidate: Tells an applicant kindly that there will be no contract. | candidate_id
! parse_resume: Reads name, skills and experience out of a CV. | file_id
! advance_stage: Takes an applicant to the next round. | candidate_id
! score_candidate: Rates an applicant on a scale. | candidate_id, score:integer
! post_vacancy: Puts a job on public job boards. | vacancy_id, boards:array? | score_candidate
# payroll | the payroll | camel
payslip: what somebody got for a month | employeeId, month
bonus: extra pay for an employee | employeeId, amount:number
deduction: what is taken off the pay, such as insurance | employeeId, amount:number
timesheet: hours that somebody worked | employeeId, week, hours:number
! runPayroll: Pays all salaries of a month. | month | approveTimesheet
! approveTimesheet: Agrees to the hours of a week. | timesheetId
! calculateNetPay: Tells what is left of a salary after tax. | gross:number, country
! fileTaxForm: Sends the wage tax figures to the tax office. | month | runPayroll
! reimburseTravel: Pays back what a business trip cost. | employeeId, amount:number
# support | the help desk | camel
ticket: a question or a complaint of a customer | subject, requester, body?
macro: an answer that agents use again and again | name, text
agent: somebody who answers customers | name, email
article: a help page for customers | title, text
! assignTicket: Gives a customer's question to an agent. | ticketId, agentId
! escalateTicket: Hands a difficult question to the next level. | ticketId, reason?
! mergeTickets: Joins questions about the same thing. | ticketId, duplicateId
! solveTicket: Marks a customer's question as answered. | ticketId
! surveyCustomer: Asks a customer how content they were. | ticketId
# chat | the team chat | snake
channel: a place for talk about one topic | name, private:boolean?
message: a line of text in a channel | channel_id, text
user: a member of the team's chat | name, email
emoji: a small picture of one's own | name, url
! post_message: Writes a line into a channel for everybody to see. | channel_id, text
! send_direct_message: Writes to one person in private. | user_id, text
! react_to_message: Puts an emoji under a line of text. | message_id, emoji
! set_status: Shows others that one is away or busy. | text, until?
! pin_message: Keeps a line of text at the top of a channel. | message_id
# weather | the weather service | snake
station: a place at which weather is measured | name, latitude:number, longitude:number
forecast: how the weather will be on the next days | city, days:integer?
observation: what a station measured | station_id, temperature:number
warning: a notice of storm, frost or heat | region, text
! current_weather: Tells temperature, wind and rain in a city now. | city
! air_quality: Tells how clean the air is. | city
! pollen_count: Tells how much pollen is in the air for people with hay fever. | city
! sunrise_sunset: Tells when the sun comes up and goes down. | city, date?
! tide_table: Tells when the sea is high and low at a harbour. | harbour, date?
# travel | the travel agency | camel
trip: a journey with all its bookings | name, startsOn, endsOn?
flight: a seat on a plane | tripId, from, to, date
hotel: a night in a house with rooms | tripId, city, checkIn, nights:integer
rental: a hired car | tripId, city, pickUp
! searchFlights: Finds planes between two airports on a day. | from, to, date
! searchHotels: Finds free rooms in a city. | city, checkIn, nights:integer
! checkIn: Gets the boarding pass for a plane. | flightId | visaRequirements
! cancelBooking: Gives a reservation back. | bookingId
! visaRequirements: Tells which papers a traveller needs for a country. | nationality, country
# music | the music player | camel
playlist: a list of songs | name
song: a piece of music | title, artistId
artist: a singer or a band | name
album: songs that came out together | title, artistId
! playSong: Starts a piece of music on a speaker. | songId, speaker?
! addToPlaylist: Puts a song at the end of a list. | playlistId, songId | showLyrics
! recommendSongs: Suggests music like what one has heard. | genre?
! showLyrics: Gives the words of a song. | songId
! setVolume: Makes a speaker louder or quieter. | speaker, percent:integer
# home | the smart home | snake
light: a lamp that can be switched | name, room
scene: settings of many devices under one name | name
thermostat: a device that holds a temperature | room
lock: a door that opens by command | door
! turn_on_light: Switches a lamp on. | light_id, brightness:integer?
! set_temperature: Makes a room warmer or colder. | thermostat_id, celsius:number
! lock_door: Shuts a door so that nobody can come in. | lock_id
! start_vacuum: Sends the robot out to clean the floor. | room?
! show_camera: Gives a picture of who is at the entrance. | camera
# health | the doctor's practice | camel
patient: somebody who is treated here | name, birthDate
appointment: a time at which a patient comes | patientId, startsAt, doctor?
prescription: a medicine that a patient is to take | patientId, drug, dose
labResult: values of a blood test | patientId, test
! checkInteractions: Tells whether two medicines do harm together. | drugs:array
! referPatient: Sends a patient to a specialist. | patientId, specialty
! refillPrescription: Orders a medicine once more. | prescriptionId | checkInteractions
! recordVitals: Stores pulse, blood pressure and weight. | patientId, pulse:integer?
! billInsurance: Sends the costs of a treatment to the insurer. | patientId, amount:number
`;
