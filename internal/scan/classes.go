package scan

import "strings"

// class is a meaning of a word for the rules. A word may have several.
type class uint32

const (
	cIgnore  class = 1 << iota // to give up on something
	cPrior                     // what came earlier, or all of it
	cOrder                     // instructions, rules
	cNot                       // negation
	cTell                      // to let somebody know
	cUser                      // the human
	cRead                      // to read, as a command
	cSend                      // to pass on, as a command or a statement
	cPut                       // to put somewhere, as a command
	cTalk                      // the conversation
	cWhole                     // all of it
	cCred                      // credentials
	cMust                      // obligation
	cCall                      // to call a tool
	cStill                     // silently
	cAsk                       // to ask
	cAgree                     // approval
	cModel                     // the model
	cReplace                   // instead, replaces
	cWhen                      // when, before, after
	cHarm                      // to destroy
	cTool                      // tool, server
	cOther                     // other, another
	cBroken                    // broken, deprecated
	cLocal                     // your, its
	cRefuse                    // refuses, detects: the text speaks of a danger
)

// words are the known words, in the forms of orders, in the languages of servers. Their accents are folded.
func words() map[string]class {
	return table(map[class]string{
		cIgnore: `ignore disregard forget neglect discard override overrule bypass skip dismiss
		ignora ignorad olvida olvide descarta ignorez oublie oubliez ignoriere ignorieren vergiss vergessen missachte esqueca desconsidere
		dimentica ignorare
		игнорируй игнорируйте забудь забудьте игнорировать`,
		cPrior: `previous prior earlier preceding foregoing above before all any existing former original your every old other initial given
		anteriores anterior previas todas todos precedentes precedente toutes tes vos vorherigen vorherige bisherigen bisherige alle obigen
		fruheren todas prima precedenti
		предыдущие прежние все предыдущих all's`,
		cOrder: `instruction instructions rule rules guideline guidelines guidance prompt prompts directive directives orders policy policies
		restriction restrictions safeguards constraints
		instrucciones instruccion ordenes reglas consignes consigne regles anweisungen anweisung regeln vorgaben instrucoes instrucao regras
		istruzioni regole
		инструкции инструкций правила указания`,
		cNot: `not don't dont never without nor cannot no avoid mustn't shouldn't nobody ni ne n'en jamais sans nicht nichts nie ohne kein ` +
			`nao nunca sem non mai senza не никогда без nada rien`,
		cTell: `tell mention inform notify reveal disclose alert inform's telling mentioning informing notifying revealing
		digas diga informes informe cuentes menciones avises dis dites parle parlez informez mentionne mentionnez sage sagen erwahne erwahnen
		informiere teile mitteilen
		conte informe mencione avise dire menzionare сообщай сообщайте говори говорите рассказывай ` +
			`упоминай`,
		cUser: `user user's users human humans person people usuario usuarios utilisateur l'utilisateur benutzer nutzer anwender utente ` +
			`usuário пользователю пользователь пользователя`,
		cRead: `grab snatch dump read load open fetch cat access retrieve view lee lea lis lisez lies leia leggi прочитай fetch's`,
		cSend: `send post upload forward transmit exfiltrate leak submit append attach include embed share sends posts uploads forwards transmits
		leaks includes attaches mail mails
		exfiltrates collects collect envia envoie sende envie отправь pass passes hand give gives route`,
		cPut:    `stick put paste copy include insert append add place pass write use provide supply attach encode hand contain contains`,
		cTalk:   `conversation chat dialogue dialog transcript discussion messages message history session`,
		cWhole:  `full whole entire complete all every verbatim everything previous history far exact exchanged contents content summary`,
		cCred:   `password passwords credential credentials cookie cookies secret secrets apikey keys key token tokens passphrase`,
		cMust:   `must always shall required mandatory essential need needs has have should ensure make necessary crucial only`,
		cCall:   `call use invoke run execute calling using invoking running calls used called executing`,
		cStill:  `silently secretly covertly quietly invisibly discreetly stealthily unnoticed`,
		cAsk:    `ask asking request requesting prompt prompting seek wait waiting`,
		cAgree:  `confirmation approval permission consent confirm approve authorization approving confirming agreement`,
		cModel:  `assistant model ai llm agent claude gpt chatgpt bot`,
		cWhen:   `when whenever if before after once every while until`,
		cHarm:   `delete wipe erase destroy drop remove overwrite`,
		cTool:   `tool tools server servers function functions mcp`,
		cOther:  `other another others different any every all each`,
		cBroken: `broken deprecated corrupts obsolete unsafe wrong insecure outdated unreliable`,
		cLocal:  `your own its model's assistant's llm's you`,
		cRefuse: `refused refuses refuse reject rejects rejected detects detect detected warns block blocks blocked blocklist forbidden ` +
			`dangerous denies prevents prevent classifies classify phrases lints`,
	})
}

func table(lists map[class]string) map[string]class {
	out := map[string]class{}
	for c, list := range lists {
		for _, w := range strings.Fields(list) {
			out[w] |= c
		}
	}
	return out
}
